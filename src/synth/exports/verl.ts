import { verl as verlLayout } from "../../data/layouts/trainers.ts";
import { type SampleFormat, templateMessage, toolsColumn } from "./export-format.ts";

/**
 * Rows that verl reads: the columns of its reinforcement data (as `agentrl data convert --to verl` writes them) and, for its multi-turn SFT,
 * `messages`. `extra_info.trained_messages` says which of them the policy wrote.
 */
export const verl: SampleFormat = {
  name: "verl",
  summary: "prompt, data_source, reward_model, extra_info and messages: verl's multi-turn rows.",
  source: "verl, RLHFDataset and MultiTurnSFTDataset",
  takes: "samples",
  calls: "text",
  loses: ["a mask by message: its SFT trains every message of the assistant"],
  rows(sample, conversations, telling, index) {
    const { id, task, provenance, weight } = sample;
    return conversations.map((messages) => {
      const first = messages.findIndex(({ role }) => role === "assistant");
      const before = messages.slice(0, first < 0 ? messages.length : first);
      const own = verlLayout.write?.record(task, { index, split: "train", prompt: "" });
      return {
        ...own,
        id,
        prompt: before.map(templateMessage),
        messages: messages.map(templateMessage),
        ...toolsColumn(telling),
        extra_info: {
          ...(own as { extra_info: object }).extra_info,
          trained_messages: messages.flatMap(({ turn }, i) => (turn === undefined ? [] : [i])),
          weight,
          provenance: JSON.stringify(provenance),
        },
      };
    });
  },
};

import { conversationsOf } from "./conversation.ts";
import { originColumns, type SampleFormat, templateMessage } from "./export-format.ts";

/** Conversations for TRL's SFTTrainer; `assistant_only_loss` trains what the policy wrote, and no result of a tool. */
export const trlMessages: SampleFormat = {
  name: "trl-messages",
  summary: "messages (and tools where calls are native): TRL's conversational language modelling.",
  source: "TRL, dataset formats",
  takes: "samples",
  calls: "text",
  loses: ["a sample's weight"],
  rows: (sample, telling) =>
    conversationsOf(sample.trajectory, telling).map((messages) => ({
      messages: messages.map(templateMessage),
      ...(telling.calls === "native" ? { tools: telling.tools } : {}),
      ...originColumns(sample),
    })),
};

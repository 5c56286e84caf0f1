import { registry } from "../../base/registry.ts";
import { verl as verlLayout } from "../../data/layouts/trainers.ts";
import type { Message, MessageCall } from "./conversation.ts";
import {
  type ExportFormat,
  originColumns,
  type SampleFormat,
  templateMessage,
  toolsColumn,
} from "./export-format.ts";
import { trlMessages, trlPreference, trlPromptCompletion } from "./trl.ts";

/** Rows that verl reads: the columns of its reinforcement data, and `messages` for its SFT, with `extra_info.trained_messages`. */
const verl: SampleFormat = {
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

const SPEAKERS = { user: "human", assistant: "gpt", tool: "observation" } as const;

/** Conversations for LLaMA-Factory (`formatting: sharegpt`), with alternating turns. A native call is a message of its own kind, in JSON. */
const sharegpt: SampleFormat = {
  name: "sharegpt",
  summary: "conversations, system and tools: LLaMA-Factory's sharegpt format.",
  source: "LLaMA-Factory, data/README.md",
  takes: "samples",
  calls: "text",
  loses: ["a sample's weight", "which messages the policy wrote: all of gpt are learned"],
  rows(sample, conversations, { calls, tools }) {
    const rows = conversations.map((messages) => {
      const system = messages.find(({ role }) => role === "system")?.content ?? "";
      const spoken = messages.filter(({ role }) => role !== "system");
      return {
        conversations: spoken.map(spokenMessage),
        system,
        tools: calls === "native" ? JSON.stringify(tools.map((tool) => tool.function)) : "",
        ...originColumns(sample),
      };
    });
    const isAlternating = rows.every((row) =>
      row.conversations.every(
        ({ from }, i) => (from === "human" || from === "observation") === (i % 2 === 0),
      ),
    );
    return isAlternating ? rows : "several results of one message";
  },
};

function spokenMessage({ role, content, calls }: Message): { from: string; value: string } {
  if (calls !== undefined) return { from: "function_call", value: `${content}${asJson(calls)}` };
  return { from: SPEAKERS[role === "system" ? "user" : role], value: content };
}

function asJson(calls: readonly MessageCall[]): string {
  const told = calls.map(({ name, arguments: given }) => ({ name, arguments: given }));
  return JSON.stringify(told.length === 1 ? told[0] : told);
}

/** Conversations as OpenAI's chat API and its fine-tuning take them: calls with ids, arguments as JSON text, results as messages. */
const openaiChat: SampleFormat = {
  name: "openai-chat",
  summary: "messages with tool_calls and tool results, and tools: OpenAI's chat format.",
  source: "OpenAI, chat completions and supervised fine-tuning",
  takes: "samples",
  calls: "native",
  loses: ["a sample's weight, id and provenance"],
  rows: (_sample, conversations, telling) =>
    conversations.map((messages) => {
      return { messages: messages.map(wireMessage), ...toolsColumn(telling) };
    }),
};

function wireMessage({ role, content, calls, callId }: Message): object {
  if (callId !== undefined) return { role, tool_call_id: callId, content };
  if (calls === undefined) return { role, content };
  const tool_calls = calls.map(({ id, name, arguments: given }) => {
    return { id, type: "function", function: { name, arguments: JSON.stringify(given) } };
  });
  return { role, content: content === "" ? null : content, tool_calls };
}

/** All file layouts of other programs for samples and pairs. */
export const exportFormats = registry<ExportFormat>("export format", [
  openaiChat,
  trlMessages,
  trlPromptCompletion,
  trlPreference,
  verl,
  sharegpt,
]);

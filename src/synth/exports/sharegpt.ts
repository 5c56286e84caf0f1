import { type Message, type MessageCall } from "./conversation.ts";
import { originColumns, type SampleFormat } from "./export-format.ts";

const SPEAKERS = { user: "human", assistant: "gpt", tool: "observation" } as const;

/**
 * Conversations for LLaMA-Factory (`formatting: sharegpt`): a person or an observation speaks first, then turns alternate. A native call is a
 * message of its own kind, JSON after the message's text.
 */
export const sharegpt: SampleFormat = {
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

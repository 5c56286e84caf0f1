import type { Message } from "./conversation.ts";
import { type SampleFormat, toolsColumn } from "./export-format.ts";

/** Conversations as OpenAI's chat API and its fine-tuning take them: calls with ids, arguments as JSON text, results as messages. */
export const openaiChat: SampleFormat = {
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

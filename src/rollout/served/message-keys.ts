import { createHash } from "node:crypto";
import type { TemplateMessage } from "../../chat/chat-template.ts";

/** A call of a tool on OpenAI's wire. */
export interface WireCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** A message as clients send it, its content as text. */
export interface WireMessage extends TemplateMessage {
  role: string;
  content: string;
  tool_calls?: readonly WireCall[];
}

/**
 * A key for every beginning of a conversation: element i stands for the first i messages. Spaces around an assistant's message do not
 * count, because agents trim them.
 */
export function messageKeys(messages: readonly WireMessage[], tools: readonly unknown[]): string[] {
  const keys = [digest("", tools)];
  for (const { role, content, tool_calls = [] } of messages) {
    const said = role === "assistant" ? content.trim() : content;
    const calls = tool_calls.map((call) => [call.function.name, call.function.arguments]);
    keys.push(digest(keys.at(-1) ?? "", [role, said, calls]));
  }
  return keys;
}

function digest(before: string, value: unknown): string {
  return createHash("sha256").update(before).update(JSON.stringify(value)).digest("base64");
}

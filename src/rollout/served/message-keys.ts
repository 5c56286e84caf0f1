import { createHash } from "node:crypto";
import type { RenderOptions, TemplateMessage } from "../../chat/chat-template.ts";

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

/** A key for every beginning of a conversation (the first i messages). Spaces around an assistant's message do not count. */
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

/** Renders messages as the text that a model reads. */
export interface MessageTemplate {
  readonly showsTools: boolean;
  render(messages: readonly TemplateMessage[], options?: RenderOptions): string;
}

/** For models without a chat template: the texts of the messages one after another, as they are. */
export const plainTemplate: MessageTemplate = {
  showsTools: false,
  render: (messages) => messages.map(({ content }) => String(content)).join(""),
};

const BLOCK = /<tool_call>(.*?)<\/tool_call>/gs;

/**
 * Calls that a model wrote as Hermes and Qwen do: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`. @param id begins their ids.
 * @returns the text without them. A block that is no call stays in the text, for the agent to see.
 */
export function toolCallsOf(text: string, id: string): { content: string; calls: WireCall[] } {
  const calls: WireCall[] = [];
  const content = text.replace(BLOCK, (block, body: string) => {
    const call = callOf(body);
    if (call === null) return block;
    calls.push({ id: `${id}-${calls.length}`, type: "function", function: call });
    return "";
  });
  return calls.length === 0 ? { content: text, calls } : { content: content.trim(), calls };
}

function callOf(body: string): WireCall["function"] | null {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return null;
  }
  const { name, arguments: given = {} } = (value ?? {}) as Record<string, unknown>;
  if (typeof name !== "string" || name === "") return null;
  return { name, arguments: typeof given === "string" ? given : JSON.stringify(given) };
}

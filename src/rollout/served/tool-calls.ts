import type { WireCall } from "./message-keys.ts";

const BLOCK = /<tool_call>(.*?)<\/tool_call>/gs;

/**
 * Calls that a model wrote as Hermes and Qwen do: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`.
 * @param id begins the ids of the calls.
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

import type { PlannedMessage, Protocol } from "./protocols/protocol.ts";
import type { ToolSchema } from "../http/chat-messages.ts";

/**
 * The continuation of a message's prefill, so that the whole message follows the plan: the rest of the planned text if the prefill is part
 * of it, else the rest of the thought and the action.
 *
 * @param prefill start of the message: an opened answer, a first thought, an inserted hint.
 * @returns "" if the prefill already contains an action.
 * @example <think> and </think> around thoughts, "<think> Wait." → " It is Oslo.</think><answer> Oslo</answer>"
 */
export function textAfter(
  prefill: string,
  message: PlannedMessage,
  { protocol, tools }: { protocol: Protocol; tools: readonly ToolSchema[] },
): string {
  const whole = protocol.write(message, tools);
  if (whole.startsWith(prefill)) return whole.slice(prefill.length);
  const action = protocol.write({ thought: "", action: message.action }, tools);
  if (action.startsWith(prefill)) return action.slice(prefill.length);
  if (protocol.parse(prefill).actions.length > 0) return "";
  const { thought } = message;
  const [before = "", after = ""] = whole
    .slice(0, whole.length - action.length)
    .split(thought, 2)
    .map((part) => part.trim());
  const begun = prefill.lastIndexOf(before);
  const isThinking = begun >= 0 && (after === "" || !prefill.slice(begun).includes(after));
  const tag = protocol.tags.find(({ holds }) => holds === "thought");
  const isOpen =
    tag !== undefined && prefill.lastIndexOf(tag.opening) > prefill.lastIndexOf(tag.closing);
  // A grammar that writes its thoughts without tags reads them still.
  if (after === "" && isOpen) return `${tag.closing}\n${action}`;
  if (!isThinking) return prefill.endsWith("\n") ? action : `\n${action}`;
  const rest = prefill.includes(thought) ? "" : `${/\s$/.test(prefill) ? "" : " "}${thought}`;
  return `${rest}${after === "" ? "\n" : after}${action}`;
}

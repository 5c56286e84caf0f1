import type { PlannedMessage, Protocol } from "../../env/protocols/protocol.ts";
import type { ToolSchema } from "../../http/chat-messages.ts";

/**
 * The continuation of a message's prefill, so that the whole message follows the plan: the rest of the planned text if the prefill is part
 * of it, else the rest of the thought and the action.
 *
 * @param opening the prefill: an opened answer, a first thought, an inserted hint.
 * @returns "" if the prefill already contains an action.
 * @example <think> and </think> around thoughts, "<think> Wait." → " It is Oslo.</think><answer> Oslo</answer>"
 */
export function textAfter(
  opening: string,
  message: PlannedMessage,
  { protocol, tools }: { protocol: Protocol; tools: readonly ToolSchema[] },
): string {
  const whole = protocol.write(message, tools);
  if (whole.startsWith(opening)) return whole.slice(opening.length);
  const action = protocol.write({ ...message, thought: "" }, tools);
  if (action.startsWith(opening)) return action.slice(opening.length);
  if (protocol.parse(opening).actions.length > 0) return "";
  const { thought } = message;
  const [before = "", after = ""] = whole
    .slice(0, whole.length - action.length)
    .split(thought, 2)
    .map((part) => part.trim());
  const begun = opening.lastIndexOf(before);
  const isThinking = begun >= 0 && (after === "" || !opening.slice(begun).includes(after));
  if (!isThinking) return opening.endsWith("\n") ? action : `\n${action}`;
  const rest = opening.includes(thought) ? "" : `${/\s$/.test(opening) ? "" : " "}${thought}`;
  return `${rest}${after === "" ? "\n" : after}${action}`;
}

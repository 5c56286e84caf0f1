import { anyTag, type Protocol } from "../env/protocols/protocol.ts";
import type { Call } from "../trajectory/trajectory.ts";

/** A forced answer as the environment reads it, its closing tag added where EOS ended it; nothing, or a text with a tag, is no answer. */
export function withAnswerEnd(
  text: string,
  { prefill, call, protocol }: { prefill: string; call: Call | undefined; protocol: Protocol },
): string {
  const isForced = prefill !== "" && prefill.endsWith(protocol.answerOpening);
  const tag = protocol.tags.find(({ holds }) => holds === "answer");
  if (!isForced || tag === undefined || call?.finish !== "eos") return text;
  if (protocol.parse(text).actions.length > 0) return text;
  const ended = text + tag.closing;
  const [action] = protocol.parse(ended).actions;
  if (action?.tool !== "answer" || action.input === "") return text;
  return new RegExp(anyTag(protocol.tags)).test(action.input) ? text : ended;
}

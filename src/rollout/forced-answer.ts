import { anyTag, type Protocol } from "../env/protocols/protocol.ts";
import type { Call } from "../trajectory/trajectory.ts";

/**
 * A message that began with the protocol's answer opening as its prefill, as the environment reads it. Where the policy ended it with EOS and not with the
 * closing tag, the tag is added, so that a forced answer is an answer. The recorded tokens stay as sampled. Nothing, or a text with a tag, is no answer.
 *
 * @param text with the prefill.
 */
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

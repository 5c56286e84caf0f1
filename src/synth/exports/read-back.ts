import { inputOf } from "../../env/protocols/call-input.ts";
import type { Action, Turn } from "../../trajectory/trajectory.ts";
import { pairedTags } from "../steps/paired-tags.ts";
import type { Message, Telling } from "./conversation.ts";

/** Reads messages back: paired tags, and the action that was read. @param follows false: own prompts. @returns the first problem. */
export function misread(
  messages: readonly Message[],
  turns: readonly Turn[],
  { follows, ...telling }: Pick<Telling, "protocol" | "tools"> & { follows: boolean },
): string | null {
  for (const [at, message] of messages.entries()) {
    const turn = message.turn === undefined ? undefined : turns[message.turn];
    if (turn === undefined) continue;
    const wrong =
      misreadMessage(message, follows ? turn : null, telling) ?? unanswered(messages, at);
    if (wrong !== null) return wrong;
  }
  return null;
}

function misreadMessage(
  message: Message,
  turn: Turn | null,
  { protocol, tools }: Pick<Telling, "protocol" | "tools">,
): string | null {
  const calls = (message.calls ?? []).map(({ name, arguments: given }) =>
    protocol.write({ thought: "", action: { tool: name, input: inputOf(given) } }, tools),
  );
  const text = [message.content, ...calls].join("\n");
  const tags = pairedTags(text, protocol.tags);
  if (typeof tags === "string") return tags;
  if (turn === null) return null;
  const { actions, problems } = protocol.parse(text);
  if (problems.length > 0) return "no valid action";
  return isSame(actions, protocol.parse(turn.text).actions) ? null : "another action";
}

function isSame(actions: readonly Action[], others: readonly Action[]): boolean {
  return (
    actions.length === others.length &&
    actions.every(({ tool, input }, i) => tool === others[i]?.tool && input === others[i].input)
  );
}

function unanswered(messages: readonly Message[], at: number): string | null {
  const calls = messages[at]?.calls ?? [];
  const following = messages.slice(at + 1, at + 1 + calls.length);
  if (at === messages.length - 1) return null;
  return calls.every(({ id }, i) => following[i]?.callId === id) ? null : "call without result";
}

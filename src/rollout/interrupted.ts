import type { Interjection, MessageEnding, PutText } from "./dialogue.ts";

/** A message before an insertion. */
interface Message {
  opening: string;
  /** After the opening. */
  text: string;
  put: readonly PutText[];
}

/** Cut and inserted text of an interruption. */
export interface Interruption {
  /** Characters after the opening that stay. */
  at: number;
  /** Inserted text, up to the protocol's end of the message. */
  text: string;
  /** Whether it ends the message. */
  isWhole: boolean;
}

/**
 * Place of an interjection in a message: between characters, and never before earlier insertions.
 * @returns null if the message has already ended there.
 */
export function interrupted(
  { opening, text, put }: Message,
  { keep, text: given }: Interjection,
  { findCut }: Pick<MessageEnding, "findCut">,
): Interruption | null {
  const last = put.at(-1);
  const from = last === undefined ? 0 : last.at + last.text.length;
  const at = beforeCharacter(text, Math.max(from, Math.min(keep, text.length)));
  const before = opening + text.slice(0, at);
  const cut = findCut(before + given);
  const follows = cut === null ? given : given.slice(0, Math.max(0, cut - before.length));
  return follows === "" ? null : { at, text: follows, isWhole: cut !== null };
}

/** The inserted text of an interjection. */
export function putInto({ name }: Interjection, { at, text }: Interruption): PutText {
  return { name, text, at };
}

/** A place that does not split a surrogate pair. */
function beforeCharacter(text: string, at: number): number {
  return /[\uD800-\uDBFF]/.test(text.charAt(at - 1)) && at < text.length ? at - 1 : at;
}

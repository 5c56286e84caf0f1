import type { Interjection, MessageEnding, PutText } from "./dialogue.ts";

/** A message that text is to be put into. */
interface Message {
  opening: string;
  /** After the opening. */
  text: string;
  put: readonly PutText[];
}

/** Where a message is taken back to, and what follows there. */
export interface Interruption {
  /** Characters after the opening that stay. */
  at: number;
  /** What is put there, up to where the protocol ends the message with it. */
  text: string;
  /** Whether it ends the message. */
  isWhole: boolean;
}

/**
 * Where an interjection falls in a message: between characters, and never before what was put there already.
 * @returns null where nothing would follow, because the message has ended by then.
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

/** What an interjection has left in a message. */
export function putInto({ name }: Interjection, { at, text }: Interruption): PutText {
  return { name, text, at };
}

/** A place that is not within a character of two units. */
function beforeCharacter(text: string, at: number): number {
  return /[\uD800-\uDBFF]/.test(text.charAt(at - 1)) && at < text.length ? at - 1 : at;
}

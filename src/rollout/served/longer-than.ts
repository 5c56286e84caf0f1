import { setImmediate } from "node:timers/promises";
import type { Tokenizer } from "../../text/tokenizer.ts";

/** Characters that are encoded at once: some milliseconds. */
const PIECE = 2 ** 13;

/** Tokens that a cut inside a word may add. */
const CUT_TOKENS = 8;

/**
 * Whether a text has more than `most` tokens, counted in pieces that end at white space, where tokenizers split first: other requests run
 * in between, and little more than the limit is encoded.
 */
export async function isLongerThan(
  most: number,
  text: string,
  { encode }: Pick<Tokenizer, "encode">,
): Promise<boolean> {
  if (text.length <= PIECE) return false;
  let tokens = 0;
  for (let at = 0; at < text.length;) {
    const end = pieceEnd(text, at);
    tokens += encode(text.slice(at, end)).length - (isBreak(text, end) ? 0 : CUT_TOKENS);
    if (tokens > most) return true;
    at = end;
    await setImmediate();
  }
  return false;
}

function pieceEnd(text: string, from: number): number {
  const most = from + PIECE;
  if (most >= text.length) return text.length;
  for (let end = most; end > from + PIECE / 2; end--) if (isBreak(text, end)) return end;
  return most;
}

function isBreak(text: string, at: number): boolean {
  return at === text.length || /^\S\s$/.test(text.slice(at - 1, at + 1));
}

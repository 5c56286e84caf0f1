import type { SampleResult } from "../engine/engine.ts";
import { textFlow } from "../text/token-bytes.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import type { MessageEnding } from "./dialogue.ts";

/** A message as the environment takes it. */
export interface CutMessage {
  /** Whole tokens, through the one that closes the cut. */
  ids: number[];
  logprobs: number[];
  /** The text up to the cut, without the end token. */
  text: string;
}

/**
 * Cuts what was sampled where the protocol says the message ends. Ids are kept, never encoded again. An end token right after the
 * cut stays: it is how the policy says that it has finished, and a policy that is never trained on it does not learn to.
 */
export function cutTokens(
  result: SampleResult,
  tokenizer: Tokenizer,
  ending: MessageEnding,
): CutMessage {
  const { ids, logprobs } = result;
  const ended = tokenizer.endIds.includes(ids.at(-1) ?? -1);
  const written = ended ? ids.slice(0, -1) : ids;
  const whole = tokenizer.decode(written);
  const cut = ending.findCut(whole);
  if (cut === null) return { ids, logprobs, text: whole };
  const through = tokensThrough(written, cut, tokenizer);
  const kept = through === written.length ? ids.length : through;
  return { ids: ids.slice(0, kept), logprobs: logprobs.slice(0, kept), text: whole.slice(0, cut) };
}

/**
 * Fewest tokens whose text has a length; the last of them may reach beyond it. A character that tokens share counts with the
 * last of them.
 * @param length in UTF-16 units, at most that of the whole text.
 */
export function tokensThrough(
  ids: readonly number[],
  length: number,
  tokenizer: Tokenizer,
): number {
  if (length === 0) return 0;
  const flow = textFlow();
  let written = 0;
  for (const [i, id] of ids.entries()) {
    written += flow.push(tokenizer.bytes(id)).length;
    if (written >= length) return i + 1;
  }
  return ids.length;
}

/**
 * The tokens that wrote some characters of a message: from the first that holds one of them to the last (exclusive).
 * @param text of the message, which the completion may begin before and go on after.
 * @param span characters of the text in UTF-16 units, end exclusive, at least one.
 * @returns null where the tokens do not hold the text: a server's own, or text that was rendered anew.
 */
export function tokenSpan(
  ids: readonly number[],
  text: string,
  [from, to]: readonly [number, number],
  tokenizer: Tokenizer,
): { token: number; endToken: number } | null {
  const start = tokenizer.decode(ids).indexOf(text);
  if (start < 0) return null;
  return {
    token: tokensThrough(ids, start + from + 1, tokenizer) - 1,
    endToken: tokensThrough(ids, start + to, tokenizer),
  };
}

/** Most tokens whose text is whole characters and no longer than a length, in UTF-16 units. */
export function wholeTokens(ids: readonly number[], length: number, tokenizer: Tokenizer): number {
  const flow = textFlow();
  let written = 0;
  let last: number[] = [];
  let whole = 0;
  for (const [i, id] of ids.entries()) {
    const own = tokenizer.bytes(id);
    written += flow.push(own).length;
    if (written > length) break;
    last = [...last, ...own.subarray(-3)].slice(-3);
    if (!endsWithin(last)) whole = i + 1;
  }
  return whole;
}

/** Whether bytes end within a character. @param last the last three of them: a fourth ends any character. */
function endsWithin(last: readonly number[]): boolean {
  const lead = last.findLastIndex((byte) => byte >= 0xc0);
  return lead >= 0 && textFlow().push(Uint8Array.from(last.slice(lead))) === "";
}

/** Where the first of some texts to be complete ends; null where there is none. */
export function firstEnd(text: string, stops: readonly string[]): number | null {
  const ends = stops.flatMap((each) => {
    const at = text.indexOf(each);
    return at < 0 ? [] : [at + each.length];
  });
  return ends.length === 0 ? null : Math.min(...ends);
}

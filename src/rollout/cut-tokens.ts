import type { SampleResult } from "../engine/engine.ts";
import { textFlow } from "../text/token-bytes.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import type { MessageEnding } from "./dialogue.ts";

/** A message up to the cut. */
export type CutMessage = { ids: number[]; logprobs: number[]; text: string };

/** Cuts sampled tokens at the message's end; ids are never encoded again. An EOS right after the cut stays, so that EOS is trained. */
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

/** Fewest tokens whose text has at least `length` UTF-16 units. A character that several tokens share counts with the last. */
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

/** The tokens (end exclusive) that wrote a span of a message's characters; null if they do not contain the text. */
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

/** Whether bytes end inside a character. @param last the last three bytes: a fourth completes any character. */
function endsWithin(last: readonly number[]): boolean {
  const lead = last.findLastIndex((byte) => byte >= 0xc0);
  return lead >= 0 && textFlow().push(Uint8Array.from(last.slice(lead))) === "";
}

import type { SampleResult } from "../engine/engine.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import type { Segment } from "../trajectory/trajectory.ts";
import { cutTokens, wholeTokens } from "./cut-tokens.ts";
import type { Interjection, MessageEnding, PutText } from "./dialogue.ts";
import { interrupted, putInto } from "./interrupted.ts";

/** A message of tokens while it is written: prefill, policy text and inserted text. */
export interface Draft {
  /** With the opening. */
  ids(): number[];
  /** Up to the cut, without the opening and without EOS. */
  text(): string;
  /** With the opening. */
  segments(): Segment[];
  /** Inserted texts, in order. */
  put(): readonly PutText[];
  /** Whether inserted text ended it, so that nothing is left to write. */
  isWhole(): boolean;
  /** Adds policy tokens, up to the end of the message. @returns the number of kept tokens. */
  write(result: SampleResult): number;
  /**
   * Removes the text after a place, and inserts text there.
   * @param limit most tokens after the opening.
   * @returns false if there is no room for it and one more token: nothing has changed then.
   */
  interrupt(interjection: Interjection, limit: number): boolean;
}

/** The prefill of a message: text after text. */
export interface MessageOpening {
  text: string;
  ids: readonly number[][];
}

/** A message before the policy's first token. */
export function emptyDraft(
  tokenizer: Tokenizer,
  ending: MessageEnding,
  opening: MessageOpening = { text: "", ids: [] },
): Draft {
  let segments: Segment[] = [];
  let text = "";
  const put: PutText[] = [];
  const inserted = (ids: number[]): Segment => ({ owner: "inserted", ids, logprobs: null });
  const all = (): Segment[] => [...opening.ids.map(inserted), ...segments];
  return {
    ids: () => all().flatMap(({ ids }) => ids),
    text: () => text,
    segments: all,
    put: () => put,
    isWhole: () => ending.findCut(opening.text + text) !== null,
    write(result) {
      const before = opening.text + text;
      // The protocol checks the whole message; a stop string in inserted text ends it at the continuation.
      const findCut = (written: string): number | null => {
        const cut = ending.findCut(before + written);
        return cut === null ? null : Math.max(0, cut - before.length);
      };
      const { ids, logprobs, text: written } = cutTokens(result, tokenizer, { ...ending, findCut });
      segments.push({ owner: "policy", ids, logprobs });
      text += written;
      return ids.length;
    },
    interrupt(interjection, limit) {
      const cut = interrupted({ opening: opening.text, text, put }, interjection, ending);
      if (cut === null) return false;
      const { kept, rest } = firstTokensOf(segments, cut.at, tokenizer);
      // The kept part of a removed token is encoded again, separately from the hint, so that the hint can be removed later.
      const again = rest === "" ? [] : tokenizer.encode(rest);
      const next = [...kept, inserted([...again, ...tokenizer.encode(cut.text)])];
      const length = next.reduce((sum, { ids }) => sum + ids.length, 0);
      if (cut.isWhole ? length > limit : length >= limit) return false;
      segments = next;
      text = text.slice(0, cut.at) + cut.text;
      put.push(putInto(interjection, cut));
      return true;
    },
  };
}

/** Segments up to a character: whole tokens, and the rest of a partial token as text. */
function firstTokensOf(
  segments: readonly Segment[],
  length: number,
  tokenizer: Tokenizer,
): { kept: Segment[]; rest: string } {
  const kept: Segment[] = [];
  let left = length;
  for (const { owner, ids: whole, logprobs } of segments) {
    const said = tokenizer.decode(whole);
    const ids = whole.slice(0, wholeTokens(whole, left, tokenizer));
    if (ids.length > 0) {
      kept.push({ owner, ids, logprobs: logprobs?.slice(0, ids.length) ?? null });
    }
    if (left <= said.length) return { kept, rest: said.slice(tokenizer.decode(ids).length, left) };
    left -= said.length;
  }
  return { kept, rest: "" };
}

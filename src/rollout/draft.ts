import type { SampleResult } from "../engine/engine.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import type { Segment } from "../trajectory/trajectory.ts";
import { cutTokens, wholeTokens } from "./cut-tokens.ts";
import type { Interjection, MessageEnding, PutText } from "./dialogue.ts";
import { interrupted, putInto } from "./interrupted.ts";

/** A message of tokens while it is written: what it was made to begin with, what the policy wrote, and what was put there. */
export interface Draft {
  /** With the opening. */
  ids(): number[];
  /** Up to the cut, without the opening and without the end token. */
  text(): string;
  /** With the opening. */
  segments(): Segment[];
  /** What was put there, in order. */
  put(): readonly PutText[];
  /** Whether it has ended with what was put there, so that nothing is left to write. */
  isWhole(): boolean;
  /** Adds what the policy wrote, up to where its message ends. @returns how many tokens of it were kept. */
  write(result: SampleResult): number;
  /**
   * Takes back what stands after a place, and puts text there.
   * @param limit tokens that it may have after the opening.
   * @returns false where there is no room for it and a token to write on: nothing has changed then.
   */
  interrupt(interjection: Interjection, limit: number): boolean;
}

/** What a message is made to begin with: text after text. */
export interface MessageOpening {
  text: string;
  ids: readonly number[][];
}

/** A message of which the policy has written nothing yet. */
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
      // The protocol looks at the message as a whole; an ending that was put into it ends it where it is written on.
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
      // Part of a token that is taken back is said again. Encoded apart, so that whoever drops the hint can part them.
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

/** Segments up to a character: whole tokens, and what of a token beyond them stands before it. */
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

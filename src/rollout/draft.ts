import type { SampleResult } from "../engine/engine.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import type { Segment } from "../trajectory/trajectory.ts";
import { cutTokens, wholeTokens } from "./cut-tokens.ts";
import type { Input, Interjection, MessageEnding, PutText } from "./dialogue.ts";

interface MessageDraft {
  /** Text up to the cut, without the prefill and without the end token. */
  text(): string;
  segments(): Segment[];
  put(): readonly PutText[];
  isWhole(): boolean;
}

/** A draft in tokens. */
export interface Draft extends MessageDraft {
  ids(): number[];
  /** Adds the policy's tokens, up to the end of the message. @returns how many of them were kept. */
  write(result: SampleResult): number;
  /** Replaces the text after a place. @param limit most tokens without the prefill. @returns false if it and one more token do not fit. */
  interrupt(interjection: Interjection, limit: number): boolean;
}

/** A draft in text, for policies with tokens of their own. */
export interface TextDraft extends MessageDraft {
  whole(): string;
  /** Adds the policy's text, up to the end of the message. @returns the part that was kept. */
  write(written: string): string;
  /** Removes the text after a place and inserts text there. @returns false if the message has ended by then; the draft is then unchanged. */
  interrupt(interjection: Interjection): boolean;
  undo(): void;
}

/** The prefill of a message: its text, and the ids of its parts. */
export type Prefill = { text: string; ids: readonly number[][] };

/** Separates the inputs that the policy reads from the prefill of its message, which comes last. */
export function splitPrefill(inputs: readonly Input[]): {
  read: readonly Input[];
  prefill: string[];
} {
  const last = inputs.findLastIndex(({ owner }) => owner !== "inserted");
  return {
    read: inputs.slice(0, last + 1),
    prefill: inputs.slice(last + 1).map(({ text }) => text),
  };
}

/** A segment of text whose tokens are unknown. */
export function textSegment(owner: Segment["owner"], text: string): Segment {
  return { owner, ids: [], logprobs: null, text };
}

/** An empty draft in tokens. */
export function emptyDraft(
  tokenizer: Tokenizer,
  ending: MessageEnding,
  prefill: Prefill = { text: "", ids: [] },
): Draft {
  let segments: Segment[] = [];
  let text = "";
  const put: PutText[] = [];
  const inserted = (ids: number[]): Segment => ({ owner: "inserted", ids, logprobs: null });
  const all = (): Segment[] => [...prefill.ids.map(inserted), ...segments];
  return {
    ids: () => all().flatMap(({ ids }) => ids),
    text: () => text,
    segments: all,
    put: () => put,
    isWhole: () => ending.findCut(prefill.text + text) !== null,
    write(result) {
      const before = prefill.text + text;
      // The protocol reads the whole message, so an ending that starts in an interjection still ends it.
      const findCut = (written: string): number | null => {
        const cut = ending.findCut(before + written);
        return cut === null ? null : Math.max(0, cut - before.length);
      };
      const { ids, logprobs, text: written } = cutTokens(result, tokenizer, { ...ending, findCut });
      const last = segments.at(-1);
      if (last?.owner !== "policy") segments.push({ owner: "policy", ids, logprobs });
      else {
        last.ids = [...last.ids, ...ids];
        last.logprobs = [...(last.logprobs ?? []), ...logprobs];
      }
      text += written;
      return ids.length;
    },
    interrupt(interjection, limit) {
      const cut = interruption({ prefill: prefill.text, text, put }, interjection, ending);
      if (cut === null) return false;
      const { kept, rest } = firstTokensOf(segments, cut.at, tokenizer);
      // A token cut in half is encoded anew, and apart from the hint, so that training can drop the hint alone.
      const again = rest === "" ? [] : tokenizer.encode(rest);
      const next = [...kept, inserted([...again, ...tokenizer.encode(cut.text)])];
      const length = next.reduce((sum, { ids }) => sum + ids.length, 0);
      if (cut.isWhole ? length > limit : length >= limit) return false;
      segments = next;
      text = text.slice(0, cut.at) + cut.text;
      put.push({ name: interjection.name, text: cut.text, at: cut.at });
      return true;
    },
  };
}

function firstTokensOf(
  segments: readonly Segment[],
  length: number,
  tokenizer: Tokenizer,
): { kept: Segment[]; rest: string } {
  const kept: Segment[] = [];
  let left = length;
  for (const { owner, ids: all, logprobs } of segments) {
    const text = tokenizer.decode(all);
    const ids = all.slice(0, wholeTokens(all, left, tokenizer));
    if (ids.length > 0) kept.push({ owner, ids, logprobs: logprobs?.slice(0, ids.length) ?? null });
    if (left <= text.length) return { kept, rest: text.slice(tokenizer.decode(ids).length, left) };
    left -= text.length;
  }
  return { kept, rest: "" };
}

/** An empty draft in text. @param prefills texts of the prefill, in order. */
export function emptyTextDraft(
  { findCut }: Pick<MessageEnding, "findCut">,
  prefills: readonly string[] = [],
): TextDraft {
  const prefill = prefills.join("");
  let state: { pieces: readonly Segment[]; put: readonly PutText[] } = { pieces: [], put: [] };
  let before = state;
  const text = (): string => state.pieces.map((piece) => piece.text).join("");
  return {
    whole: () => prefill + text(),
    text,
    segments: () => [...prefills.map((each) => textSegment("inserted", each)), ...state.pieces],
    put: () => state.put,
    isWhole: () => findCut(prefill + text()) !== null,
    write(written) {
      const start = prefill + text();
      const cut = findCut(start + written);
      const kept = cut === null ? written : written.slice(0, Math.max(0, cut - start.length));
      state = { ...state, pieces: [...state.pieces, textSegment("policy", kept)] };
      return kept;
    },
    interrupt(interjection) {
      const message = { prefill, text: text(), put: state.put };
      const cut = interruption(message, interjection, { findCut });
      if (cut === null) return false;
      before = state;
      const pieces = [...firstCharacters(state.pieces, cut.at), textSegment("inserted", cut.text)];
      state = {
        pieces,
        put: [...state.put, { name: interjection.name, text: cut.text, at: cut.at }],
      };
      return true;
    },
    undo() {
      state = before;
    },
  };
}

function firstCharacters(pieces: readonly Segment[], count: number): Segment[] {
  let left = count;
  return pieces.flatMap(({ owner, text = "" }) => {
    const kept = text.slice(0, left);
    left -= kept.length;
    return kept === "" ? [] : [textSegment(owner, kept)];
  });
}

type Interruption = { at: number; text: string; isWhole: boolean };

/** Places an interjection between characters, never before an earlier one; null if the message (`text` without prefill) has ended. */
function interruption(
  { prefill, text, put }: { prefill: string; text: string; put: readonly PutText[] },
  { keep, text: given }: Interjection,
  { findCut }: Pick<MessageEnding, "findCut">,
): Interruption | null {
  const last = put.at(-1);
  const from = last === undefined ? 0 : last.at + last.text.length;
  const at = beforeCharacter(text, Math.max(from, Math.min(keep, text.length)));
  const before = prefill + text.slice(0, at);
  const cut = findCut(before + given);
  const follows = cut === null ? given : given.slice(0, Math.max(0, cut - before.length));
  return follows === "" ? null : { at, text: follows, isWhole: cut !== null };
}

function beforeCharacter(text: string, at: number): number {
  return /[\uD800-\uDBFF]/.test(text.charAt(at - 1)) && at < text.length ? at - 1 : at;
}

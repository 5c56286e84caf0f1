import type { Segment } from "../trajectory/trajectory.ts";
import type { Interjection, MessageEnding, PutText } from "./dialogue.ts";
import { interrupted, putInto } from "./interrupted.ts";

/** A message of text while it is written, for policies whose server keeps the tokens. */
export interface TextDraft {
  /** Up to the cut, with the opening. */
  whole(): string;
  /** Without the opening. */
  text(): string;
  /** With the opening. */
  segments(): Segment[];
  /** Inserted texts, in order. */
  put(): readonly PutText[];
  /** Whether inserted text ended it, so that nothing is left to write. */
  isWhole(): boolean;
  /** Adds policy text, up to the end of the message. @returns the kept text. */
  write(written: string): string;
  /** Removes the text after a place, and inserts text there. @returns false if the message has ended there: nothing has changed then. */
  interrupt(interjection: Interjection): boolean;
  /** Undoes the last interruption. */
  undo(): void;
}

/** A message before the policy's first text. @param openings its prefill, text after text. */
export function emptyTextDraft(
  { findCut }: Pick<MessageEnding, "findCut">,
  openings: readonly string[] = [],
): TextDraft {
  const opening = openings.join("");
  let state: { pieces: readonly Segment[]; put: readonly PutText[] } = { pieces: [], put: [] };
  let before = state;
  const text = (): string => state.pieces.map((piece) => piece.text).join("");
  return {
    whole: () => opening + text(),
    text,
    segments: () => [...openings.map((each) => textSegment("inserted", each)), ...state.pieces],
    put: () => state.put,
    isWhole: () => findCut(opening + text()) !== null,
    write(written) {
      const stands = opening + text();
      const cut = findCut(stands + written);
      const kept = cut === null ? written : written.slice(0, Math.max(0, cut - stands.length));
      state = { ...state, pieces: [...state.pieces, textSegment("policy", kept)] };
      return kept;
    },
    interrupt(interjection) {
      const message = { opening, text: text(), put: state.put };
      const cut = interrupted(message, interjection, { findCut });
      if (cut === null) return false;
      before = state;
      const pieces = [...firstCharacters(state.pieces, cut.at), textSegment("inserted", cut.text)];
      state = { pieces, put: [...state.put, putInto(interjection, cut)] };
      return true;
    },
    undo() {
      state = before;
    },
  };
}

/** A segment of text without token ids. */
export function textSegment(owner: Segment["owner"], text: string): Segment {
  return { owner, ids: [], logprobs: null, text };
}

function firstCharacters(pieces: readonly Segment[], count: number): Segment[] {
  let left = count;
  return pieces.flatMap(({ owner, text = "" }) => {
    const kept = text.slice(0, left);
    left -= kept.length;
    return kept === "" ? [] : [textSegment(owner, kept)];
  });
}

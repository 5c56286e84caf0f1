import type { Segment } from "../trajectory/trajectory.ts";
import type { Interjection, MessageEnding, PutText } from "./dialogue.ts";
import { interrupted, putInto } from "./interrupted.ts";

/** A message of text while it is written, for policies whose tokens are not ours. */
export interface TextDraft {
  /** Up to the cut, with the opening. */
  whole(): string;
  /** Without the opening. */
  text(): string;
  /** With the opening. */
  segments(): Segment[];
  /** What was put there, in order. */
  put(): readonly PutText[];
  /** Whether it has ended with what was put there, so that nothing is left to write. */
  isWhole(): boolean;
  /** Adds what the policy wrote, up to where its message ends. @returns what of it was kept. */
  write(written: string): string;
  /** Takes back what stands after a place, and puts text there. @returns false where nothing would follow: nothing has changed then. */
  interrupt(interjection: Interjection): boolean;
  /** Makes the last interruption undone. */
  undo(): void;
}

/** A message of which the policy has written nothing yet. @param openings what it is made to begin with, text after text. */
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

/** A piece of text whose tokens are not ours. */
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

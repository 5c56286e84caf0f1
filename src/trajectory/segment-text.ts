import type { Segment, Trajectory } from "./trajectory.ts";

/** The text of token ids, special tokens included: a tokenizer's `decode`. */
export type Decode = (ids: readonly number[]) => string;

/** Text of a segment; null if it has only ids and there is no tokenizer. */
export function segmentText({ text, ids }: Segment, decode: Decode | null): string | null {
  if (text !== undefined) return text;
  if (decode !== null) return decode(ids);
  return ids.length === 0 ? "" : null;
}

/** `segmentText` by a tokenizer. */
export function textsBy(decode: Decode | null): (segment: Segment) => string | null {
  return (segment) => segmentText(segment, decode);
}

/** The first prompt as the model got it; null if its text is unknown. */
export function promptText({ calls }: Trajectory, decode: Decode | null): string | null {
  const texts = (calls[0]?.prompt ?? []).map((segment) => segmentText(segment, decode));
  return calls.length === 0 || texts.includes(null) ? null : texts.join("");
}

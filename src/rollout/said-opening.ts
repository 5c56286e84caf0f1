import type { Said } from "./dialogue.ts";

/** Splits the input and the prefill at its end. */
export function withoutOpening(said: readonly Said[]): {
  read: readonly Said[];
  opening: string[];
} {
  const last = said.findLastIndex(({ owner }) => owner !== "inserted");
  return { read: said.slice(0, last + 1), opening: said.slice(last + 1).map(({ text }) => text) };
}

import type { Said } from "./dialogue.ts";

/** What is said, apart from the beginning of the policy's own message, which stands at its end. */
export function withoutOpening(said: readonly Said[]): {
  read: readonly Said[];
  opening: string[];
} {
  const last = said.findLastIndex(({ owner }) => owner !== "inserted");
  return { read: said.slice(0, last + 1), opening: said.slice(last + 1).map(({ text }) => text) };
}

import type { Observation } from "./trajectory.ts";

/** A passage in an observation. */
export interface ShownPassage {
  /** Its id, or its text if the tool gives no ids. */
  id: string;
  text: string;
}

const NUMBER = /^Doc \d+/;

/** The passages of an observation, best first; text that is not a list of `Doc 1(Title: …) …` is one passage. */
export function passagesIn({ text, passageIds, problem }: Observation): ShownPassage[] {
  if (problem !== undefined || passageIds?.length === 0 || text.trim() === "") return [];
  const pieces = text.split(/^(?=Doc \d+\(Title: )/m).map((piece) => piece.trim());
  const ids = passageIds !== undefined && pieces.length <= passageIds.length ? passageIds : [];
  return pieces.map((piece, i) => {
    const bare = piece.replace(NUMBER, "");
    return { id: ids[i] ?? bare, text: bare };
  });
}

/** Renumbered passages, one a line, as a search shows them. */
export function numbered(passages: readonly ShownPassage[]): string {
  return passages
    .map(({ text }, i) => (text.startsWith("(Title: ") ? `Doc ${i + 1}${text}` : text))
    .join("\n");
}

/** Known passages, followed by the new ones, at most `limit`. */
export function withNew(
  known: readonly ShownPassage[],
  found: readonly ShownPassage[],
  limit = Infinity,
): ShownPassage[] {
  const ids = new Set(known.map(({ id }) => id));
  return [...known, ...found.filter(({ id }) => !ids.has(id))].slice(0, limit);
}

import { ConfigError } from "../../base/errors.ts";
import type { SampleFacts } from "./selector.ts";

/** A sample and one number of it. */
export interface Valued {
  sample: SampleFacts;
  value: number;
}

/** What samples are told apart by, and who asks. */
interface Wanted {
  /** A score's name, or `reward`, `length`, `searches`, `hops`. */
  by: string;
  /** The part, for messages. */
  selector: string;
}

/**
 * The samples that have a value, with it, in order; and those that have none, with why they are dropped.
 * @throws {ConfigError} RECIPE_BAD_VALUE where samples are there and not one has it: nothing in the pipeline gives it.
 */
export function valuesOf(
  samples: readonly SampleFacts[],
  { by, selector }: Wanted,
): { valued: Valued[]; dropped: { id: string; reason: string }[] } {
  const valued: Valued[] = [];
  const dropped: { id: string; reason: string }[] = [];
  for (const sample of samples) {
    const value = valueOf(sample, by);
    if (value === null) dropped.push({ id: sample.id, reason: `no ${by}` });
    else valued.push({ sample, value });
  }
  if (valued.length > 0 || samples.length === 0) return { valued, dropped };
  const known = [...new Set(samples.flatMap(({ scores }) => Object.keys(scores)))].sort();
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `synth.selection: ${selector} goes by "${by}", which no sample has. Their scores: ${known.length === 0 ? "none" : known.join(", ")}; beside them every sample has length and searches, and reward and hops where they are known. Name one of these, or put the scorer or step that gives "${by}" before it.`,
  );
}

function valueOf({ reward, length, searches, hops, scores }: SampleFacts, by: string) {
  const own: Record<string, number | null> = { reward, length, searches, hops };
  return scores[by] ?? own[by] ?? null;
}

/**
 * The place of each value from the largest (1) to the smallest; equal values share the mean of their places.
 * @example placesFromLargest([5, 9, 5]) // [2.5, 1, 2.5]
 */
export function placesFromLargest(values: readonly number[]): number[] {
  const order = values.map((_, i) => i).sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0));
  const places = new Array<number>(values.length).fill(0);
  for (let from = 0; from < order.length;) {
    let to = from + 1;
    while (to < order.length && values[order[to] ?? 0] === values[order[from] ?? 0]) to += 1;
    for (const i of order.slice(from, to)) places[i] = (from + 1 + to) / 2;
    from = to;
  }
  return places;
}

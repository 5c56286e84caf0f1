import { type PartWithOptions, definer } from "../../base/define-part.ts";
import { ConfigError } from "../../base/errors.ts";
import type { Random } from "../../base/random.ts";
import { requireReturned } from "../../base/registry.ts";
import { z } from "../../base/schema.ts";

/** Facts of a sample for selectors: a few numbers, so that a hundred thousand fit in memory. */
export interface SampleFacts {
  id: string;
  taskId: string;
  type: string | null;
  hops: number | null;
  draw: string;
  reward: number | null;
  scores: Readonly<Record<string, number>>;
  length: number;
  searches: number;
}

/** Chooses among all samples, or orders them, after all steps. */
export interface Selector extends PartWithOptions {
  readonly source?: string;
  /** Options for tests, if the defaults alone are an error. */
  readonly example?: object;
  /** @returns the kept samples, in the order of the written file, and the others with a reason. */
  select(samples: readonly SampleFacts[], options: object, random: Random): Selected;
}

/** What a selector decides. */
export interface Selected {
  kept: readonly SampleFacts[];
  dropped: readonly { id: string; reason: string }[];
}

/** Makes a selector. @throws {ConfigError} PLUGIN_BAD_PART without select. */
export const defineSelector = definer<Selector>()("sample selector", {
  functions: {
    select: {
      at: 1,
      returned(selected: Selected, { what, args: [samples] }) {
        requireReturned(what, selected, { kept: "list", dropped: "list" });
        const sorted = [...selected.kept, ...selected.dropped].map(({ id }) => id);
        if (new Set(sorted).size === samples.length && sorted.length === samples.length)
          return selected;
        const message = `${what} returned ${sorted.length} of ${samples.length} samples: expected each once, in kept or in dropped. Correct its code.`;
        throw new ConfigError("PLUGIN_FAILED", message);
      },
    },
  },
});

type Valued = { sample: SampleFacts; value: number };

/**
 * The samples with their value (a score's name, or `reward`, `length`, `searches`, `hops`), in order; those without one are dropped.
 * @throws {ConfigError} RECIPE_BAD_VALUE if no sample has the value: no part of the pipeline gives it.
 */
export function valuesOf(
  samples: readonly SampleFacts[],
  { by, selector }: { by: string; selector: string },
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
  const message = `synth.selection: ${selector} uses "${by}", which no sample has. Scores of the samples: ${known.length === 0 ? "none" : known.join(", ")}; every sample also has length and searches, and reward and hops if known. Use one of these, or add the scorer or step that gives "${by}" before it.`;
  throw new ConfigError("RECIPE_BAD_VALUE", message);
}

function valueOf({ reward, length, searches, hops, scores }: SampleFacts, by: string) {
  const own: Record<string, number | null> = { reward, length, searches, hops };
  return scores[by] ?? own[by] ?? null;
}

/** The rank of each value from the largest (1); equal values share the mean rank. @example placesFromLargest([5, 9, 5]) // [2.5, 1, 2.5] */
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

/** Options of selectors that use the difficulty of a question. */
export const difficultyShape = {
  /** Score that is high for hard questions, such as `difficulty`. */
  difficulty: z.string().optional(),
  /** Alternative: score that is high for easy questions, such as `pass-rate`. */
  easiness: z.string().optional(),
};

type DifficultyOptions = { difficulty?: string | undefined; easiness?: string | undefined };

/** For `refine`: whether at most one of the two is set. */
export function isOneDifficulty({ difficulty, easiness }: DifficultyOptions): boolean {
  return difficulty === undefined || easiness === undefined;
}

/** The schema's error message. */
export const ONE_DIFFICULTY = "expected either difficulty or easiness";

/** Difficulty of the samples, large being hard; those without one are dropped. @param usual default of the options. @throws as `valuesOf`. */
export function difficultiesOf(
  samples: readonly SampleFacts[],
  { difficulty, easiness }: DifficultyOptions,
  { selector, usual }: { selector: string; usual: DifficultyOptions },
): { valued: Valued[]; dropped: { id: string; reason: string }[] } {
  const named =
    difficulty === undefined && easiness === undefined ? usual : { difficulty, easiness };
  if (named.easiness === undefined)
    return valuesOf(samples, { by: named.difficulty ?? "", selector });
  const { valued, dropped } = valuesOf(samples, { by: named.easiness, selector });
  return { valued: valued.map(({ sample, value }) => ({ sample, value: -value })), dropped };
}

/** Options of selectors that keep a number or a share of the samples. */
export const amountShape = {
  /** Samples to keep. */
  count: z.int().min(1).optional(),
  /** Alternative: share of the samples to keep, rounded, at least one. */
  share: z.number().gt(0).max(1).optional(),
};

type Amount = { count?: number | undefined; share?: number | undefined };

/** Number of samples to keep. @param of all samples. */
export function amountOf({ count, share = 1 }: Amount, of: number): number {
  return Math.min(of, count ?? Math.max(1, Math.round(share * of)));
}

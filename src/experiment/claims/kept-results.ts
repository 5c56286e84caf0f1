import { DataError } from "../../base/errors.ts";
import { readJson } from "../../base/files.ts";
import { z } from "../../base/schema.ts";
import type { Interval } from "../../evaluate/statistics.ts";
import type { ClaimResult, ReproducedRun, Reproduction } from "./claim-results.ts";
import type { Verdict } from "./claim-test.ts";
import { type MeasuresByRun, unpackMeasures } from "./kept-measures.ts";

/** A reproduction as `results.json` and `recipes/results/` hold it: all that its pages show, so that nothing is measured again for them. */
export interface KeptResults extends Reproduction {
  format: 2;
  /** How its verdicts were found: 2 as docs/claims.md says; 1 for results from before. */
  procedure: 1 | 2;
  runs: KeptRun[];
  /** Some trajectories of each arm, as the pages' viewer shows them. */
  samples: unknown[];
}

/** A run, with its curve. */
export interface KeptRun extends ReproducedRun {
  /** Checksums of the policy and the data, as in its manifest. */
  hashes: Record<string, unknown>;
  /** The reward in training, at most some dozens of steps. */
  reward: { step: number; value: number }[];
  heldOut: { step: number; n: number; em: number; ci95: Interval | null }[];
  /** Other metrics of the training by name, where claims show them. */
  curves?: Record<string, { step: number; value: number }[]>;
}

const keptSchema = z.looseObject({
  format: z.union([z.literal(1), z.literal(2)]),
  recipe: z.string(),
  tier: z.string(),
  claims: z.array(
    z.looseObject({ id: z.string(), verdict: z.string(), arms: z.array(z.unknown()) }),
  ),
  runs: z.array(z.looseObject({ key: z.string(), arms: z.array(z.string()) })),
  samples: z.array(z.unknown()),
});

/** @throws {DataError} FILE_MISSING, FILE_NOT_JSON; when the file holds no results of a known format. */
export async function readKeptResults(file: string): Promise<KeptResults> {
  const value = await readJson(file);
  const parsed = keptSchema.safeParse(value);
  if (parsed.success)
    return parsed.data.format === 1 ? migrated(value as FirstResults) : (value as KeptResults);
  throw new DataError(
    "FILE_NOT_JSON",
    `${file}: holds no results of agentrl reproduce in a format of this version. Make it again: agentrl reproduce RECIPE --keep.`,
  );
}

/** What the runs measured, by run and metric; nothing of the first procedure, which kept no values by question. */
export function measuresOf({ procedure, runs, questions }: KeptResults): MeasuresByRun {
  if (procedure === 1) return new Map();
  const measured = Object.fromEntries(runs.map((run) => [run.key, run.measured]));
  const seeds = new Map(runs.map(({ key, seed }) => [key, seed]));
  return unpackMeasures({ measured, questions }, (key) => seeds.get(key) ?? 0);
}

/** Results of the first procedure: one draw a question, and of the errors over seeds and over questions the wider one. */
interface FirstResults extends Omit<
  KeptResults,
  "levels" | "claims" | "runs" | "base" | "claimsHash"
> {
  level: number;
  base?: KeptResults["base"];
  claimsHash?: string | null;
  claims: ClaimResult[];
  runs: Omit<KeptRun, "measured">[];
}

const FIRST_VERDICTS: Readonly<Record<string, Verdict>> = {
  inconclusive: "undecided",
  "not supported": "reversed",
};

/** Results of the first procedure in today's form; what it did not know is empty. */
function migrated(found: FirstResults): KeptResults {
  const { level, looks, base, claimsHash, ...rest } = found;
  const verdictOf = (verdict: Verdict): Verdict => FIRST_VERDICTS[verdict] ?? verdict;
  return {
    ...rest,
    // Absent in the oldest results.
    base: base ?? [],
    claimsHash: claimsHash ?? null,
    format: 2,
    procedure: 1,
    looks,
    levels: looks.map(() => level),
    prior: { degrees: 0, deviation: 0 },
    questions: "",
    runs: found.runs.map((run) => ({ ...run, measured: {} })),
    claims: found.claims.map((claim) => ({
      ...claim,
      verdict: verdictOf(claim.verdict),
      kind: claim.source === "by construction" ? "construction" : "method",
      effect: null,
      unequal: [],
      level,
      comparisons: claim.comparisons.map((each) => ({
        ...each,
        verdict: verdictOf(each.verdict),
        isShare: claim.isShare,
        pEffect: null,
        pEffectHolm: null,
        error: null,
      })),
    })),
  };
}

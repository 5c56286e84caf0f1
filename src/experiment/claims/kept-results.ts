import { DataError } from "../../base/errors.ts";
import { readJson } from "../../base/files.ts";
import { z } from "../../base/schema.ts";
import type { Interval } from "../../evaluate/statistics.ts";
import type { ReproducedRun, Reproduction } from "./claim-results.ts";

/** A reproduction as `results.json` and `recipes/results/` hold it: all that its pages show, so that nothing is measured again for them. */
export interface KeptResults extends Reproduction {
  format: 1;
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
  format: z.literal(1),
  recipe: z.string(),
  tier: z.string(),
  claims: z.array(
    z.looseObject({ id: z.string(), verdict: z.string(), arms: z.array(z.unknown()) }),
  ),
  runs: z.array(z.looseObject({ key: z.string(), arms: z.array(z.string()) })),
  samples: z.array(z.unknown()),
});

/** @throws {DataError} FILE_MISSING, FILE_NOT_JSON; when the file holds no results of this format. */
export async function readKeptResults(file: string): Promise<KeptResults> {
  const value = await readJson(file);
  if (keptSchema.safeParse(value).success) {
    const older: Partial<KeptResults> = { base: [], claimsHash: null };
    return { ...older, ...(value as KeptResults) };
  }
  throw new DataError(
    "FILE_NOT_JSON",
    `${file}: holds no results of agentrl reproduce in this version's format. Make it again: agentrl reproduce RECIPE --keep.`,
  );
}

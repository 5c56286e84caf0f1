import { basename, dirname, join } from "node:path";
import { z } from "../base/schema.ts";
import type { DrawnQuestion } from "../synth/draw-log.ts";
import { SAMPLE_FILES } from "../trajectory/sample-files.ts";
import type { PreferencePair, Sample } from "../trajectory/sample.ts";
import { fileIn, lines, readChecked } from "./results-files.ts";

const counts = z.record(z.string(), z.number());
const drawYield = z.looseObject({
  name: z.string(),
  rollouts: z.number(),
  failed: z.number(),
  toolRate: z.number().nullable(),
  searches: z.number().nullable(),
  answerRate: z.number().nullable(),
  reward: z.number().nullable(),
  hints: counts,
});
const stepYield = z.looseObject({
  name: z.string(),
  kind: z.string(),
  in: z.number(),
  out: z.number(),
  dropped: counts,
  mended: z.number(),
  pairs: z.number(),
  questions: z.number(),
});

/** The fields of `synth.json` for reports. */
const synthesisSchema = z.looseObject({
  agentrl: z.string(),
  recipe: z.string(),
  tier: z.string(),
  seed: z.number(),
  teacher: z.looseObject({
    name: z.string(),
    from: z.string().optional(),
    model: z.string().optional(),
  }),
  dataset: z.string(),
  hashes: z.record(z.string(), z.string()),
  readsGold: z.boolean(),
  questions: z.number(),
  draws: z.array(drawYield),
  yields: z.array(stepYield),
  failures: counts,
});

export type Synthesis = z.output<typeof synthesisSchema>;

/** A sample with its status in a synthesis. */
export interface LeftSample {
  sample: Sample;
  /** "kept", "validation", "dropped: …", or its side of a pair. */
  status: string;
  /** Id of its pair. */
  pair?: string;
}

/** The files of a synthesis, opened. Every call streams rows again. */
export interface SynthesisFiles {
  folder: string;
  /** Name of the folder, for headings. */
  name: string;
  synthesis: Synthesis;
  /** All draws, question by question. */
  draws(): AsyncGenerator<DrawnQuestion>;
  /** Kept samples for training and validation, dropped ones if the run recorded them, and both sides of pairs. */
  samples(): AsyncGenerator<LeftSample>;
}

/**
 * Opens the output of `agentrl synth-data`.
 *
 * @param place its folder, or the synth.json in it.
 * @throws {DataError} FILE_MISSING, FILE_NOT_JSON; RESULTS_BAD when the file is no synthesis.
 */
export async function openSynthesis(place: string): Promise<SynthesisFiles> {
  const file = fileIn(place, "synth.json");
  const expected = "the synth.json of `agentrl synth-data`";
  const folder = dirname(file);
  return {
    folder,
    name: basename(folder),
    synthesis: await readChecked(file, synthesisSchema, expected),
    draws: () => lines<DrawnQuestion>(join(folder, "draws.jsonl")),
    samples: () => samplesOf(folder),
  };
}

async function* samplesOf(folder: string): AsyncGenerator<LeftSample> {
  for await (const sample of lines<Sample>(join(folder, SAMPLE_FILES.samples)))
    yield { sample, status: "kept" };
  for await (const sample of lines<Sample>(join(folder, SAMPLE_FILES.validation)))
    yield { sample, status: "validation" };
  type Dropped = Sample & { dropped: { by: string; reason: string } };
  for await (const { dropped, ...sample } of lines<Dropped>(join(folder, "dropped.jsonl")))
    yield { sample, status: `dropped by ${dropped.by}: ${dropped.reason}` };
  for (const file of [SAMPLE_FILES.pairs, SAMPLE_FILES.pairsValidation]) {
    for await (const pair of lines<PreferencePair>(join(folder, file))) {
      const { id, task, chosen, rejected } = pair;
      yield { sample: { ...chosen, task }, status: "pair: chosen", pair: id };
      yield { sample: { ...rejected, task }, status: "pair: rejected", pair: id };
    }
  }
}

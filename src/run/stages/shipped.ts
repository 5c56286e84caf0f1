import { join } from "node:path";
import { buildIndex } from "../../retrieval/bm25/build-index.ts";
import { type EvalOptions, type EvalOutcome, evaluatePolicy } from "../run-eval.ts";
import { heads } from "../settings/stage-heads.ts";
import type { SftResult } from "../sft/open-sft.ts";
import { type PreferenceResult, trainOnPairs } from "../sft/run-preference.ts";
import { trainOnSamples } from "../sft/run-sft.ts";
import { drawAndSelect, type SynthOptions, type SynthOutcome } from "../synth/run-synth.ts";
import { oneOfSeveral, trainByRollouts } from "../train/on-policy-method.ts";
import type { StagePart } from "./stage.ts";

const indexStage: StagePart = {
  ...heads.index,
  run: async ({ out, dataset, signal }) => {
    const passages = (await dataset("training")).passages();
    const { corpus } = await buildIndex(passages, join(out, "index"), { signal, overwrite: true });
    return { policy: null, passages: corpus.passages };
  },
};

export const synthStage: StagePart<SynthOutcome, SynthOptions> = {
  ...heads.synth,
  run: drawAndSelect,
};

export const sftStage: StagePart<SftResult> = { ...heads.sft, run: trainOnSamples };

export const preferenceStage: StagePart<PreferenceResult> = {
  ...heads.preference,
  run: trainOnPairs,
};

export const trainStage: StagePart<{ policy: string; steps: number }> = {
  ...heads.train,
  run: (session) => trainByRollouts(session, oneOfSeveral),
};

export const evaluateStage: StagePart<EvalOutcome, EvalOptions> = {
  ...heads.evaluate,
  run: evaluatePolicy,
};

/** How the package's stages run, by name; a plug-in's stage runs by itself. */
export const shippedStages: ReadonlyMap<string, StagePart> = new Map(
  [indexStage, synthStage, sftStage, preferenceStage, trainStage, evaluateStage].map((each) => [
    each.name,
    each,
  ]),
);

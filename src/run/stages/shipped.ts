import { join } from "node:path";
import { buildIndex } from "../../retrieval/bm25/build-index.ts";
import { type EvalOptions, type EvalOutcome, evaluatePolicy } from "../run-eval.ts";
import { heads } from "../settings/stage-heads.ts";
import type { SftResult } from "../sft/open-sft.ts";
import { type PreferenceResult, trainOnPairs } from "../sft/run-preference.ts";
import { trainOnSamples } from "../sft/run-sft.ts";
import { criticTrunkOf } from "../../algorithms/index.ts";
import { openStrategy } from "../../rollout/strategies/named-strategy.ts";
import { hasCurriculum } from "../settings/sft-settings.ts";
import { synthOf } from "../synth/synthesis.ts";
import { onPolicyOptions } from "../train/on-policy-run.ts";
import {
  drawAndSelect,
  type SynthOptions,
  type SynthOutcome,
  type SynthResult,
} from "../synth/run-synth.ts";
import { oneOfSeveral, trainByRollouts } from "../train/on-policy-method.ts";
import { selectFromDraws } from "../synth/synth-folder.ts";
import { tokensOf } from "../plan/batch-plan.ts";
import type { StagePart, StageResult } from "./stage.ts";

const indexStage: StagePart = {
  ...heads.index,
  run: async ({ out, dataset, signal }) => {
    const passages = (await dataset("training")).passages();
    const { corpus } = await buildIndex(passages, join(out, "index"), { signal, overwrite: true });
    return { policy: null, passages: corpus.passages };
  },
  plan: () => ({ steps: 0, sampled: 0, trained: 0 }),
};

export const synthStage: StagePart<SynthOutcome, SynthOptions> = {
  ...heads.synth,
  run: drawAndSelect,
  plan: (settings, { messages }) => {
    const { draws, limit } = synthOf(settings);
    const rollouts = draws.reduce(
      (sum, { samples, strategy }) => sum + samples * openStrategy(strategy, "synth.draws").leaves,
      0,
    );
    const sampled = limit === undefined ? null : limit * rollouts * messages.tokens;
    return { steps: 0, sampled, trained: 0 };
  },
};

const selectStage: StagePart<
  StageResult & { result: SynthResult },
  Pick<SynthOptions, "keepDropped">
> = { ...heads.select, run: selectFromDraws, plan: () => ({ steps: 0, sampled: 0, trained: 0 }) };

export const sftStage: StagePart<SftResult> = {
  ...heads.sft,
  run: trainOnSamples,
  plan: ({ sft }, { tokens }) => {
    // How many samples there are is known when they are drawn.
    if (sft === undefined || !hasCurriculum(sft)) return { steps: null, sampled: 0, trained: null };
    const steps = sft.curriculum.reduce((sum, phase) => sum + phase.steps, 0);
    return { steps, sampled: 0, trained: steps * sft.trajectoriesPerStep * tokens };
  },
};

export const preferenceStage: StagePart<PreferenceResult> = {
  ...heads.preference,
  run: trainOnPairs,
  plan: () => ({ steps: null, sampled: 0, trained: null }),
};

export const trainStage: StagePart<{ policy: string; steps: number }> = {
  ...heads.train,
  run: (session) => trainByRollouts(session, oneOfSeveral),
  plan: ({ algorithm, strategy }, longest) => {
    if (algorithm === undefined) return { steps: null, sampled: null, trained: null };
    const { promptsPerStep, groupSize, epochs, steps } = onPolicyOptions(algorithm);
    const { leaves } = openStrategy(strategy, "strategy");
    const critic = criticTrunkOf(algorithm) ?? null;
    const work = {
      stage: "train",
      prompts: promptsPerStep,
      groupSize,
      leaves,
      epochs,
      steps,
    } as const;
    return { steps, ...tokensOf({ ...work, critic }, longest) };
  },
};

export const evaluateStage: StagePart<EvalOutcome, EvalOptions> = {
  ...heads.evaluate,
  run: evaluatePolicy,
  plan: () => ({ steps: 0, sampled: null, trained: 0 }),
};

/** How the package's stages run, by name; a plug-in's stage runs by itself. */
export const shippedStages: ReadonlyMap<string, StagePart> = new Map(
  [indexStage, synthStage, selectStage, sftStage, preferenceStage, trainStage, evaluateStage].map(
    (each) => [each.name, each],
  ),
);

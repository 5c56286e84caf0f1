import { ConfigError } from "../../base/errors.ts";
import { teacherTrajectories, type TeacherOptions } from "../../synth/teacher-trajectories.ts";
import { trainOnStream } from "../../algorithms/sft.ts";
import { environmentOver } from "../assemble.ts";
import { openValidationProgress } from "../train/progress.ts";
import type { TrainingLeg, TrainingStart } from "../train/training-method.ts";
import type { OpenSft } from "./open-sft.ts";
import type { SftCurriculumSettings } from "../settings/sft-settings.ts";

/** Nothing is held out: the last checkpoint becomes the policy. */
const UNMEASURED = {
  metric: "validation/loss",
  keepsBest: false,
  better: "lower",
  patience: null,
  minImprovement: 0,
} as const;

/** Trains phase by phase on trajectories that a teacher makes during training. */
export async function openStream(
  { session, openEngine }: TrainingStart,
  sft: SftCurriculumSettings,
): Promise<OpenSft> {
  const { settings, record, signal } = session;
  if (settings.policy.chat !== undefined) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${record.path}: policy.chat is set, but a stream's teacher writes its trajectories as plain text. Take it out for sft.curriculum, or learn from samples (sft.data).`,
    );
  }
  const engine = await openEngine();
  const { every } = settings.checkpoints;
  const totalSteps = sft.curriculum.reduce((sum, { steps }) => sum + steps, 0);
  const teacher: TeacherOptions = {
    environmentOver: (retriever) => environmentOver(retriever, settings),
    worlds: sft.worlds,
    tokenizer: engine.tokenizer,
    seed: settings.seed,
    signal,
  };
  return {
    engine,
    totalSteps,
    data: {},
    learned: null,
    validation: () => null,
    openProgress: () => openValidationProgress({ ...UNMEASURED, every }),
    train: async (_, leg) => {
      const ended = { early: false };
      let begin = 0;
      for (const { steps, behaviour } of sft.curriculum) {
        const phaseStart = begin;
        begin += steps;
        if (begin <= leg.firstStep || ended.early) continue;
        // Each phase has its own range of trajectory numbers: a dropped trajectory leaves a gap and no number repeats.
        const number = phaseStart * sft.trajectoriesPerStep * 2;
        const trajectories = teacherTrajectories(teacher, behaviour, number);
        // On resume, the trajectories of completed steps are made again and skipped.
        const known = Math.max(0, leg.firstStep - phaseStart);
        for (let i = 0; i < known * sft.trajectoriesPerStep; i++) await trajectories.next();
        await trainOnStream(engine, sft, {
          trajectories,
          steps: steps - known,
          firstStep: phaseStart + known,
          totalSteps,
          signal,
          learningRateFactor: leg.learningRateFactor,
          onStep: timed(async (step) => {
            const goesOn = await leg.afterStep(step);
            ended.early = !goesOn;
            return goesOn;
          }),
        });
      }
    },
  };
}

type StreamStep = Parameters<Parameters<typeof trainOnStream>[2]["onStep"]>[0];

/** A step with the time since the one before. */
function timed(afterStep: TrainingLeg["afterStep"]): (step: StreamStep) => Promise<boolean> {
  let last = performance.now();
  return ({ step, loss, gradNorm, tokens }) => {
    const seconds = (performance.now() - last) / 1000;
    last = performance.now();
    return afterStep({
      step,
      metrics: { "losses/sft": loss, "optimizer/grad_norm": gradNorm },
      timing: { seconds, tokensPerSecond: tokens / seconds },
    });
  };
}

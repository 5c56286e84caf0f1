import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { teacherTrajectories, type TeacherOptions } from "../../synth/teacher-trajectories.ts";
import { trainOnStream } from "../../train/sft.ts";
import { environmentOver } from "../assemble.ts";
import { openCheckpoints, savingAtEnd } from "../folder/checkpoints.ts";
import { type RunFolder, withRunFolder } from "../folder/run-folder.ts";
import {
  lastLoss,
  requireWork,
  resultFile,
  type SftResult,
  type SftSession,
} from "./sft-session.ts";
import type { SftStagesSettings } from "./sft-settings.ts";

/** Trains stage by stage on trajectories that a teacher makes meanwhile. */
export async function learnFromStream(
  session: SftSession,
  sft: SftStagesSettings,
): Promise<SftResult> {
  const { resolved, options, engine, from, events } = session;
  const { settings, recipe } = resolved;
  const { out, version, signal } = options;
  if (settings.policy.chat !== undefined) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${recipe.path}: policy.chat is set, but a stream's teacher writes its trajectories as plain text. Take it out for sft.stages, or learn from samples (sft.data).`,
    );
  }
  const totalSteps = sft.stages.reduce((sum, { steps }) => sum + steps, 0);
  const first = from?.step ?? 0;
  requireWork(session, first >= totalSteps, totalSteps);
  const teacher: TeacherOptions = {
    environmentOver: (retriever) => environmentOver(retriever, settings),
    ...{ worlds: sft.worlds, tokenizer: engine.tokenizer, seed: settings.seed, signal },
  };
  const facts = { version, afterStep: from?.step ?? -1 };
  const { onEvent } = options;
  const opening = { engine, out, resolved, facts, events, onEvent, signal };
  return withRunFolder(opening, (run) => learn(session, sft, { run, teacher, totalSteps }));
}

async function learn(
  { resolved, options, engine, from }: SftSession,
  sft: SftStagesSettings,
  given: { run: RunFolder; teacher: TeacherOptions; totalSteps: number },
): Promise<SftResult> {
  const { run, teacher, totalSteps } = given;
  const { out, signal } = options;
  const { every } = resolved.settings.checkpoints;
  const first = from?.step ?? 0;
  await rm(resultFile(out), { force: true });
  const checkpoints = await openCheckpoints(engine, out, {
    ...{ ...resolved.settings.checkpoints, firstStep: first },
  });
  let done = first;
  // A step is whole with its line, which a run that goes on from its checkpoint does not write again.
  let isWhole = true;
  let loss = await lastLoss(out);
  await savingAtEnd(
    checkpoints,
    () => (isWhole ? done : null),
    async () => {
      if (from !== null) await engine.load(from.path);
      let begin = 0;
      for (const { steps, behaviour } of sft.stages) {
        const stage = begin;
        begin += steps;
        if (begin <= first) continue;
        // A stage's trajectories have numbers of their own; those dropped leave gaps, never repeats.
        const trajectories = teacherTrajectories(
          teacher,
          behaviour,
          stage * sft.trajectoriesPerStep * 2,
        );
        // What was learned before an interruption is made once more and passed over.
        const known = Math.max(0, first - stage);
        for (let i = 0; i < known * sft.trajectoriesPerStep; i++) await trajectories.next();
        let last = performance.now();
        await trainOnStream(engine, sft, {
          ...{ trajectories, steps: steps - known, firstStep: stage + known, totalSteps, signal },
          onStep: async (each) => {
            const seconds = (performance.now() - last) / 1000;
            last = performance.now();
            const { gradNorm, tokens } = each;
            [done, loss, isWhole] = [each.step, each.loss, false];
            await run.metrics(
              done,
              { "losses/sft": loss, "optimizer/grad_norm": gradNorm },
              { seconds, tokensPerSecond: tokens / seconds },
            );
            isWhole = true;
            if (done % every === 0) await checkpoints.save(done);
            options.onStep?.({ ...each, totalSteps, seconds });
          },
        });
      }
    },
  );
  const policy = join(out, "policy");
  await engine.save(policy, { dtype: "F16", merged: true });
  return {
    ...{ policy, checkpoint: run.checkpoint(done), steps: done, loss },
    ...{ stoppedEarly: false, samples: null, validation: null },
  };
}

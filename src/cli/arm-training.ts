import { existsSync } from "node:fs";
import { formatScore } from "../base/format.ts";
import { packageVersion } from "../base/package-root.ts";
import type { EvaluationSummary } from "../evaluate/evaluation-summary.ts";
import type { ArmRun } from "../experiment/arms/arm-runs.ts";
import type { ArmUse } from "../experiment/reproduce.ts";
import { mapAround } from "../run/evaluation-sets.ts";
import type { CliContext } from "./command.ts";
import { type Progress, startProgress } from "./progress.ts";

/** What a run of an arm is given. */
export interface ArmTraining extends ArmUse {
  /** Called with a short text on how far the run is. */
  onProgress: (text: string) => void;
}

/** Trains an arm; its results as `agentrl train --json` prints them. */
export async function trainArm(
  { settings }: ArmRun,
  { folder, signal, evaluatedIn, onProgress }: ArmTraining,
): Promise<unknown> {
  const { runRecipe } = await import("../run/run-recipe.ts");
  let stage = "";
  const {
    steps,
    wallSeconds,
    eval: evaluations,
    stages,
  } = await runRecipe(settings, {
    out: folder,
    version: packageVersion(),
    signal,
    evaluatedIn,
    // Left by an interrupted reproduction.
    resume: existsSync(folder),
    onEvaluationStart: (name) => {
      stage = name;
    },
    onEvaluationProgress: ({ done, em }) => {
      onProgress(`${stage} ${done} answers, EM ${formatScore(em)}`);
    },
    onStage: ({ name }) => {
      stage = name;
    },
    onStageProgress: ({ done, total, note }) => {
      onProgress(`${stage} ${total === null ? done : `${done}/${total}`} ${note}`);
    },
    onStep: ({ step, totalSteps, metrics }) => {
      const reward = formatScore(metrics["rollout/reward_mean"] ?? 0);
      onProgress(`step ${step}/${totalSteps}, reward ${reward}`);
    },
  });
  const facts = stages?.map(({ name, facts: found }) => [name, found] as const);
  return {
    steps,
    wallSeconds,
    eval: mapAround(evaluations, flat),
    // The last of several stages with one name.
    stages: facts === undefined ? undefined : (Object.fromEntries(facts) as object),
  };
}

function flat({ n, metrics, groups }: EvaluationSummary): unknown {
  return { n, ...metrics, groups };
}

/** One bar for all runs of a reproduction, of which several may be under way. */
interface ArmProgress {
  begin(run: ArmRun, total: number): void;
  update(run: ArmRun, text: string): void;
  end(run: ArmRun): void;
  stop(): void;
}

export function openArmProgress(context: CliContext): ArmProgress {
  const active = new Map<string, string>();
  let [done, total] = [0, 0];
  let bar: Progress | null = null;
  const show = (): void => bar?.update(done, [...active.values()].join(" · "));
  return {
    begin(run, all) {
      active.set(run.key, shortName(run));
      if (all !== total || bar === null) {
        bar?.stop();
        total = all;
        bar = startProgress(context, { label: "runs", total, unit: "runs" });
      }
      show();
    },
    update(run, text) {
      active.set(run.key, `${shortName(run)}: ${text}`);
      show();
    },
    end({ key }) {
      active.delete(key);
      done += 1;
      show();
    },
    stop() {
      bar?.stop();
    },
  };
}

/** @example "search 2" for seed 2 of the arm search */
function shortName({ arms, seed }: ArmRun): string {
  return `${arms[0]?.split("/")[1] ?? "run"} ${seed}`;
}

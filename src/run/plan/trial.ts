import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isResident } from "../../onnx/device-names.ts";
import { openStrategy } from "../../rollout/strategies/named-strategy.ts";
import { openNamedDataset } from "../assemble.ts";
import { setsOf } from "../evaluation-sets.ts";
import type { Session } from "../session.ts";
import type { Settings } from "../settings/settings-schema.ts";
import type { ResolvedSettings } from "../settings/settings.ts";
import { withStageSession } from "../stages/open-session.ts";
import { trainByRollouts, trialOf } from "../train/on-policy-method.ts";
import type { PlannedRun } from "./plan.ts";
import { forecastTime, type RunLength, type TimeForecast, type Trial } from "./time-forecast.ts";

/** Time and memory of a run, from its first steps. */
export interface TrialForecast {
  time: TimeForecast;
  /** Peak bytes of this process, while it took those steps; null on a device with its own memory. */
  peakBytes: number | null;
  /** What was done: seconds of the wall clock, steps, and the share of a step's questions that each asked. */
  trial: { seconds: number; steps: number; share: number; load: number };
}

/** Steps are taken for so many seconds, and two at least. */
const STEP_SECONDS = 15;
const LEAST_STEPS = 2;
/** A trial ends after so many seconds, with the steps that it has. */
const PATIENCE_SECONDS = 120;
/** Node and a run's modules, which are loaded here already. */
const START_SECONDS = 0.5;
/** Trajectories for each slot: as many again wait, as in a long run. */
const WAVES = 2;

/**
 * Forecasts a planned run by its first steps: the real training in a temporary folder, with fewer questions where they would take long.
 *
 * @param options.load processors wanted by all programs here before it.
 * @param options.clock seconds; the wall clock when absent.
 * @param options.patience seconds after which the trial ends; 120 when absent.
 * @returns `why` there is no forecast, where there is none.
 * @throws as `runTrain`.
 */
export async function trialForecast(
  run: PlannedRun,
  options: { signal: AbortSignal; load: number; clock?: () => number; patience?: number },
): Promise<TrialForecast | { why: string }> {
  const { signal, load, clock = () => performance.now() / 1000 } = options;
  const { patience = PATIENCE_SECONDS } = options;
  const why = notTried(run);
  if (why !== null) return { why };
  const begun = performance.now();
  const trial = await takeFirstSteps(run, { signal, clock, patience });
  const { settings } = run.resolved;
  if (trial.steps.length === 0) {
    const trajectories = Math.round(trial.share * run.work.prompts) * run.work.groupSize;
    return { why: `a step of ${trajectories} rollouts is not done here in ${patience} seconds` };
  }
  return {
    time: forecastTime(trial, await lengthOf(settings, run.work.steps)),
    peakBytes: isResident(run.load.device) ? null : 1024 * process.resourceUsage().maxRSS,
    trial: {
      seconds: (performance.now() - begun) / 1000,
      steps: trial.steps.length,
      share: trial.share,
      load,
    },
  };
}

/** Why a run is not tried; null where it is. */
function notTried({ work, model, resolved }: PlannedRun): string | null {
  if (work.stage === "sft") return "only a training by rollouts is tried";
  if (work.steps === 0) return "there is no step to train";
  if (model.folder === null) return `the weights of ${model.from} are not on this machine`;
  const remote = Object.entries(resolved.settings.models ?? {}).find(([, at]) => "endpoint" in at);
  if (remote === undefined) return null;
  return `a trial would send requests to the server of the model "${remote[0]}"`;
}

async function takeFirstSteps(
  run: PlannedRun,
  { signal, clock, patience }: { signal: AbortSignal; clock: () => number; patience: number },
): Promise<Trial> {
  const { work, load } = run;
  const most = WAVES * load.workers * load.slots;
  const perPrompt = work.groupSize * work.leaves;
  const least = Math.ceil(work.minibatches / work.groupSize);
  const prompts = Math.min(work.prompts, Math.max(least, Math.ceil(most / perPrompt)));
  const { samplesPerTask } = run.resolved.settings.evaluation;
  const trial: Trial = {
    opening: 0,
    evaluations: [],
    steps: [],
    saving: 0,
    share: prompts / work.prompts,
  };
  let last = clock();
  const lap = (): number => -last + (last = clock());
  let asked = 0;
  let rollout = 0;
  let stepped = 0;
  const out = await mkdtemp(join(tmpdir(), "agentrl-trial-"));
  const ending = endingWith(signal, patience);
  try {
    const length = {
      questions: Math.ceil(most / samplesPerTask),
      isEnough: (step: number) =>
        step >= LEAST_STEPS && performance.now() - stepped > 1000 * STEP_SECONDS,
    };
    const session: Session = {
      out: join(out, "run"),
      version: "trial",
      signal: ending.signal,
      onEvaluationStart: (name, answers) => {
        asked = answers / samplesPerTask;
        if (name === "before") trial.opening = START_SECONDS + lap();
        else trial.saving = lap();
      },
      onEvaluation: () => {
        trial.evaluations.push({ questions: asked, seconds: lap() });
        stepped = performance.now();
      },
      onBatch: () => (rollout = lap()),
      onStep: () => trial.steps.push({ rollout, update: lap() }),
    };
    await withStageSession(shortened(run.resolved, prompts), session, (stage) =>
      trainByRollouts(stage, trialOf(length)),
    );
  } catch (error) {
    if (signal.aborted || !ending.signal.aborted) throw error;
  } finally {
    ending.close();
    await rm(out, { recursive: true, force: true });
  }
  return trial;
}

/** Aborts with the caller or after its seconds. Its timer is referenced: AbortSignal.any can lose one that nothing else holds. */
function endingWith(
  caller: AbortSignal,
  seconds: number,
): { signal: AbortSignal; close: () => void } {
  const controller = new AbortController();
  const end = (): void => {
    controller.abort(caller.reason);
  };
  if (caller.aborted) end();
  caller.addEventListener("abort", end, { once: true });
  const timer = setTimeout(end, 1000 * seconds);
  return {
    signal: controller.signal,
    close: () => {
      clearTimeout(timer);
      caller.removeEventListener("abort", end);
    },
  };
}

/** The same training with fewer questions a step, which reports to nobody and is not watched. */
function shortened(
  resolved: ResolvedSettings<Settings>,
  promptsPerStep: number,
): ResolvedSettings<Settings> {
  const { algorithm, evaluation, ...settings } = resolved.settings;
  const { during: _, sets: __, ...ends } = evaluation;
  const checkpoints = { ...settings.checkpoints, every: Number.MAX_SAFE_INTEGER };
  return {
    ...resolved,
    settings: {
      ...settings,
      checkpoints,
      reporters: [],
      alarms: [],
      budgetCheck: false,
      evaluation: ends,
      algorithm: { ...algorithm, promptsPerStep } as unknown as Settings["algorithm"],
    },
  };
}

async function lengthOf(settings: Settings, steps: number): Promise<RunLength> {
  const { during, ...evaluation } = settings.evaluation;
  const own = await questionCount(settings);
  const between = {
    count: during === undefined ? 0 : Math.floor(steps / during.every),
    questions: Math.min(own, during?.questions ?? 0),
  };
  let questions = own;
  for (const { settings: of } of setsOf(settings)) {
    const cost = trajectoriesOf(of.evaluation) / trajectoriesOf(evaluation);
    questions += cost * (await questionCount(of));
  }
  const checkpoints = Math.ceil(steps / settings.checkpoints.every);
  return { steps, questions, between, checkpoints };
}

async function questionCount({ evaluation, environment }: Settings): Promise<number> {
  const held = await openNamedDataset(evaluation.dataset, environment);
  let questions = 0;
  for await (const _ of held.stream()) questions += 1;
  return questions;
}

/** Trajectories that a question takes. */
function trajectoriesOf({
  samplesPerTask,
  strategy,
}: Pick<Settings["evaluation"], "samplesPerTask" | "strategy">): number {
  return samplesPerTask * openStrategy(strategy, "evaluation.strategy").leaves;
}

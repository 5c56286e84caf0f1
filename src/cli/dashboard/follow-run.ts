import { join } from "node:path";
import { parseEvaluationName } from "../../evaluate/policy-label.ts";
import { readJson } from "../../base/files.ts";
import type { RunControl } from "../../run/folder/run-control.ts";
import type { RunEvents, RunStep } from "../../run/train/run-events.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import { TOKENS_PER_SECOND } from "../../view/runs/panels.ts";
import { readRunEvaluations } from "../../view/runs/run-evaluations.ts";
import { readRunEvents, readRunMetrics } from "../../view/runs/run-metrics.ts";
import { knownMean } from "../../view/sparkline.ts";
import type { RunEvent } from "../../watch/run-event.ts";
import type {
  Asked,
  Batch,
  EvaluationPoint,
  RunFacts,
  RunView,
  StepPoint,
  Work,
} from "./run-view.ts";

/** The state of a resumed run from its earlier process. */
export interface RunPast {
  device: string | null;
  history: readonly StepPoint[];
  evaluations: readonly EvaluationPoint[];
  events: readonly RunEvent[];
}

/** The state of a run from its events so far. */
export interface FollowedRun {
  readonly news: RunEvents;
  view(): RunView;
  /** Pending requests to the run. */
  ask(what: keyof Asked): void;
  remember(past: RunPast): void;
}

/** Most rollouts of a step that are kept for display: a batch can be large. */
const KEPT_TRAJECTORIES = 24;
const KEPT_EVENTS = 100;
/** Number of steps whose mean time predicts the next ones. */
const RECENT = 20;
const NOTHING: Asked = { pause: false, save: false, evaluate: false, stop: false };

interface Following {
  device: string | null;
  stage: RunView["stage"];
  work: Work;
  totalSteps: number | null;
  history: StepPoint[];
  evaluations: EvaluationPoint[];
  events: RunEvent[];
  batch: Batch | null;
  asked: Asked;
  /** Whether the run is handling the requests: later requests wait for the next step. */
  isTaken: boolean;
  paused: boolean;
  /** Milliseconds from one step's end to the next's, pauses left out. */
  stepTimes: number[];
  lastStepAt: number | null;
  evaluationBegun: number;
  /** Duration of the evaluations before the first step, the estimate for those after the last. */
  evaluationMs: number;
}

/** Follows a run by its events. @param now milliseconds. */
export function followRun(
  facts: RunFacts,
  control: Pick<RunControl, "paused">,
  now: () => number,
): FollowedRun {
  const begun = now();
  const run: Following = {
    device: null,
    stage: null,
    work: { kind: "starting" },
    totalSteps: null,
    batch: null,
    history: [],
    evaluations: [],
    events: [],
    asked: { ...NOTHING },
    paused: false,
    isTaken: false,
    stepTimes: [],
    lastStepAt: null,
    evaluationBegun: begun,
    evaluationMs: 0,
  };
  return {
    news: newsOf(run, control, now),
    view() {
      // The run continues at once.
      if (!control.paused) run.asked.pause = run.paused = false;
      const recent = run.stepTimes.slice(-RECENT);
      const stepMs = recent.length === 0 ? null : knownMean(recent);
      const step = run.history.at(-1)?.step ?? 0;
      const left = stepMs === null ? null : ((run.totalSteps ?? 0) - step) * stepMs;
      const { history, evaluations, events, batch, asked, paused } = run;
      return {
        facts,
        device: run.device,
        stage: run.stage,
        work: run.work,
        step,
        totalSteps: run.totalSteps,
        history,
        evaluations,
        events,
        batch,
        asked,
        paused,
        elapsedMs: now() - begun,
        stepMs,
        leftMs: left === null ? null : left + (run.stage === null ? run.evaluationMs : 0),
      };
    },
    ask(what) {
      run.asked[what] = true;
    },
    remember(past) {
      const first = run.history[0]?.step ?? Infinity;
      run.device = past.device;
      run.history.unshift(...past.history.filter(({ step }) => step < first));
      const known = new Set(run.evaluations.map(({ name }) => name));
      run.evaluations.unshift(...past.evaluations.filter(({ name }) => !known.has(name)));
      run.events.unshift(...past.events.slice(-KEPT_EVENTS));
    },
  };
}

function newsOf(run: Following, control: Pick<RunControl, "paused">, now: () => number): RunEvents {
  return {
    onRewardCheck: () => undefined,
    onData(_, totalSteps) {
      run.totalSteps = totalSteps;
      run.work = { kind: "training" };
    },
    onValidation(step, metrics) {
      const last = run.history.at(-1);
      if (last?.step === step) last.metrics = { ...last.metrics, ...metrics };
    },
    onEvaluationStart(name, total) {
      run.evaluationBegun = now();
      if (run.history.length > 0) takeUp(run);
      run.work = { kind: "evaluating", name, done: 0, total, em: null };
    },
    onEvaluationProgress({ done, em }) {
      if (run.work.kind === "evaluating") run.work = { ...run.work, done, em };
    },
    onEvaluation(name, { metrics, n }) {
      run.work = { kind: "training" };
      run.lastStepAt ??= now();
      if (run.history.length === 0) {
        run.lastStepAt = now();
        run.evaluationMs += now() - run.evaluationBegun;
      }
      // The line of evaluations is the curve of the run's own held-out questions.
      if (parseEvaluationName(name).set !== null) return;
      run.evaluations = run.evaluations.filter((each) => each.name !== name);
      run.evaluations.push({ name, em: metrics.em, n });
    },
    onStage({ number, name, do: kind }, total, kept) {
      run.stage = { number, total, name, kind };
      if (kept) return;
      run.work = { kind: "starting" };
      run.history = [];
      run.stepTimes = [];
      run.totalSteps = run.lastStepAt = run.batch = null;
    },
    onStageProgress(progress) {
      run.work = { kind: "stage", ...progress };
    },
    onBatch(trajectories, step) {
      run.batch = batchOf(trajectories, step);
      run.work = { kind: "training" };
    },
    onStep(step) {
      onStep(run, step, control.paused);
      if (run.lastStepAt !== null) run.stepTimes.push(now() - run.lastStepAt);
      if (run.stepTimes.length > RECENT) run.stepTimes.shift();
      // A pause does not count as time of a step.
      run.lastStepAt = control.paused ? null : now();
    },
    onEvent(event) {
      run.events.push(event);
      if (run.events.length > KEPT_EVENTS) run.events.shift();
    },
  };
}

function onStep(
  run: Following,
  { step, totalSteps, metrics, timing, trajectories }: RunStep,
  paused: boolean,
): void {
  // A rolled-back run repeats its steps.
  while ((run.history.at(-1)?.step ?? 0) >= step) run.history.pop();
  const perSecond = timing["tokensPerSecond"] ?? NaN;
  run.history.push({ step, metrics: { ...metrics, [TOKENS_PER_SECOND]: perSecond } });
  run.totalSteps = totalSteps;
  run.work = { kind: "training" };
  run.paused = paused;
  if (!run.isTaken) takeUp(run);
  run.isTaken = false;
  run.asked.pause = paused;
  if (trajectories.length > 0 && run.batch?.step !== step) run.batch = batchOf(trajectories, step);
}

/** An evaluation during training is reported before its step. */
function takeUp(run: Following): void {
  run.asked = { ...NOTHING, pause: run.asked.pause, stop: run.asked.stop };
  run.isTaken = true;
}

/** Evenly spaced in the batch, whose groups are adjacent. */
function batchOf(trajectories: readonly Trajectory[], step: number): Batch {
  const size = trajectories.length;
  const kept = Math.min(size, KEPT_TRAJECTORIES);
  const some = Array.from({ length: kept }, (_, i) => trajectories[Math.floor((i * size) / kept)]);
  return { step, size, trajectories: some.filter((each) => each !== undefined) };
}

/**
 * Facts in the folder of a started run: the policy's device and, for a resumed run, its history.
 * @param resumed false: only the policy's device.
 */
export async function readPast(folder: string, resumed: boolean): Promise<RunPast> {
  const { machine } = (await readJson(join(folder, "manifest.json"))) as {
    machine?: { device?: string };
  };
  const device = machine?.device ?? null;
  if (!resumed) return { device, history: [], evaluations: [], events: [] };
  const metrics = await readRunMetrics(join(folder, "metrics.jsonl"));
  const { evaluations } = await readRunEvaluations(folder, Infinity);
  return {
    device,
    history: metrics.map(({ step, values }) => ({ step, metrics: values })),
    evaluations: evaluations.flatMap(({ name, n, metrics: { em = null } }) =>
      em === null ? [] : [{ name, em, n }],
    ),
    events: (await readRunEvents(folder)) as RunEvent[],
  };
}

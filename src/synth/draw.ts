import { ExternalError, RolloutError } from "../base/errors.ts";
import { allSettled, inOrder, openFailureStreak } from "../base/in-order.ts";
import { seedFrom } from "../base/random.ts";
import type { Environment } from "../env/environments/environment.ts";
import type { Policy } from "../rollout/policy.ts";
import type { Sampling } from "../rollout/sampling.ts";
import { scoreTrajectories, type Scoring, type WeightedReward } from "../rollout/score.ts";
import { openStrategy, strategyMark } from "../rollout/strategies/named-strategy.ts";
import type { Candidate, Provenance } from "../trajectory/sample.ts";
import type { Task } from "../trajectory/task.ts";
import type { OpenedAnnotation } from "./annotations/annotation.ts";
import { type DrawLog, type DrawnQuestion, isFinal } from "./draw-log.ts";
import type { OpenedScorer } from "./scorers/scorer.ts";
import type { DrawSettings } from "./synth-settings.ts";

/** What drawing a question needs. */
export interface DrawSetting {
  policy: Policy;
  environment: Environment;
  draws: readonly DrawSettings[];
  sampling: Sampling;
  rewards: readonly WeightedReward[];
  scoring?: Scoring;
  annotations: readonly OpenedAnnotation[];
  scorers: readonly OpenedScorer[];
  /** Seed of the run: each rollout's seed depends on it, the question's id, the draw's name and its number. */
  seed: number;
  origin: Omit<Provenance, "draw" | "strategy" | "seed" | "steps">;
}

/** Progress of a run. */
export interface DrawProgress {
  questions: number;
  rollouts: number;
  failed: number;
  reward: number | null;
}

export interface DrawRun {
  tasks: AsyncIterable<Task>;
  log: DrawLog;
  window: number;
  signal: AbortSignal;
  onProgress?: (progress: DrawProgress) => void;
}

/**
 * Draws every question and appends to the log, in order; memory holds only unfinished questions.
 * @throws {ExternalError} SYNTHESIS_GIVEN_UP when 24 rollouts in a row fail. @throws {ConfigError} PART_UNKNOWN, STRATEGY_NEEDS_LOGPROBS
 * @throws the signal's reason when it aborts. Already appended questions are complete.
 */
export async function drawQuestions(setting: DrawSetting, run: DrawRun): Promise<DrawProgress> {
  const { log, window, signal } = run;
  const halt = new AbortController();
  const draw = questionDrawer(setting);
  const tally = openTally(run.onProgress);
  const work = async ({ task, earlier }: AskedQuestion): Promise<DrawnQuestion | null> => {
    if (earlier === null) {
      tally.question([]);
      return null;
    }
    const drawn = await draw(task, halt.signal, earlier);
    const taken = new Set(takenOver(earlier).map(({ id }) => id));
    tally.question(drawn.candidates.filter(({ id }) => !taken.has(id)));
    tally.failures(drawn);
    return drawn;
  };
  await inOrder(askedQuestions(run), work, {
    signal,
    halt,
    window,
    take: async (drawn) => {
      if (drawn !== null) await log.append(drawn);
    },
  });
  return tally.progress();
}

type AskedQuestion = { task: Task; earlier: DrawnQuestion | null | undefined };

async function* askedQuestions({ tasks, log }: DrawRun): AsyncGenerator<AskedQuestion> {
  for await (const task of tasks) yield { task, earlier: log.earlier(task) };
}

/** Draws one question and keeps earlier draws that did not fail. */
export function questionDrawer(
  setting: DrawSetting,
): (task: Task, signal: AbortSignal, earlier?: DrawnQuestion) => Promise<DrawnQuestion> {
  const { rewards, draws } = setting;
  const plans = draws.flatMap((draw) => {
    const opened = openStrategy(draw.strategy, `synth.draws (${draw.name}).strategy`);
    return Array.from({ length: draw.samples }, (_, number) => ({ draw, opened, number }));
  });
  return async (task, signal, earlier) => {
    const failed: NonNullable<DrawnQuestion["failed"]> = [];
    const annotated = await annotate(setting, task, { earlier, signal, failed });
    if (annotated === null) return { task: withoutContext(task), candidates: [], failed };
    const known = new Map(takenOver(earlier).map((each) => [each.id, each]));
    const played = plans.map(async ({ draw, opened, number }): Promise<Candidate> => {
      const id = `${task.id}/${draw.name}-${number}`;
      const there = known.get(id);
      // Rewards may depend on all trajectories of a question, so they are computed again.
      if (there !== undefined) {
        const bare = { ...there, trajectory: { ...there.trajectory, rewards: [], reward: null } };
        const unscored = earlier?.failed?.some(({ of }) => of === id) === true;
        return unscored ? score(setting, bare, { task: annotated, signal, failed }) : bare;
      }
      const seed = seedFrom(setting.seed, "draw", task.id, draw.name, number);
      const { policy, environment, sampling, scoring: { roles } = {} } = setting;
      const { timings: _, ...trajectory } = await opened.run({
        policy,
        environment,
        task: annotated,
        id,
        groupId: task.id,
        purpose: "train",
        seed,
        sampling: draw.sampling ?? sampling,
        signal,
        roles,
      });
      const provenance: Provenance = {
        ...setting.origin,
        draw: { name: draw.name, number },
        strategy: strategyMark(draw.strategy),
        seed,
        steps: [],
      };
      const fresh = { id, trajectory, weight: 1, scores: {}, provenance };
      return score(setting, fresh, { task: annotated, signal, failed });
    });
    const candidates = await allSettled(played);
    const scored = candidates.map(({ trajectory }) => ({ trajectory, task: annotated }));
    await scoreTrajectories(scored, rewards, { ...setting.scoring, signal });
    const own = withoutContext(annotated);
    return { task: own, candidates, failed: failed.length === 0 ? undefined : failed };
  };
}

type Work = { signal: AbortSignal; failed: NonNullable<DrawnQuestion["failed"]> };

async function annotate(
  { annotations }: DrawSetting,
  task: Task,
  { earlier, signal, failed }: Work & { earlier: DrawnQuestion | undefined },
): Promise<Task | null> {
  if (earlier !== undefined && !earlier.failed?.some(({ of }) => of === task.id)) {
    const { context } = task.annotations;
    const annotated = {
      ...earlier.task.annotations,
      ...(context === undefined ? {} : { context }),
    };
    return { ...earlier.task, annotations: annotated };
  }
  let annotated = task;
  try {
    for (const each of annotations) annotated = await each.annotate(annotated, signal);
    return annotated;
  } catch (error) {
    failed.push(failureOf(task.id, error));
    return null;
  }
}

async function score(
  { scorers }: DrawSetting,
  candidate: Candidate,
  { task, signal, failed }: Work & { task: Task },
): Promise<Candidate> {
  const { trajectory } = candidate;
  if (trajectory.error !== undefined) return candidate;
  const scores: Record<string, number> = {};
  try {
    for (const scorer of scorers)
      Object.assign(scores, await scorer.score(task, trajectory, signal));
  } catch (error) {
    failed.push(failureOf(candidate.id, error));
  }
  return { ...candidate, scores };
}

/** The failure of a server or tool, to be retried; rethrows any other error. */
function failureOf(of: string, error: unknown): NonNullable<DrawnQuestion["failed"]>[number] {
  if (!(error instanceof RolloutError)) throw error;
  return { of, code: error.code, message: error.message };
}

function takenOver(earlier: DrawnQuestion | null | undefined): Candidate[] {
  return (earlier?.candidates ?? []).filter(({ trajectory }) => isFinal(trajectory));
}

function withoutContext(task: Task): Task {
  const { context: _, ...annotations } = task.annotations;
  return { ...task, annotations };
}

function openTally(onProgress: DrawRun["onProgress"]) {
  const streak = openFailureStreak();
  const sum = { questions: 0, rollouts: 0, failed: 0, rewards: 0, rewarded: 0 };
  const progress = (): DrawProgress => {
    const { questions, rollouts, failed, rewards, rewarded } = sum;
    return { questions, rollouts, failed, reward: rewarded === 0 ? null : rewards / rewarded };
  };
  const count = (error: { code: string; message: string } | undefined): void => {
    const inARow = streak.add(error !== undefined);
    if (inARow === null || error === undefined) return;
    const problem = `${inARow} rollouts in a row failed (${sum.rollouts - sum.failed} were drawn before in this run); the last: ${error.code}: ${error.message} Continue with --resume once it works again.`;
    throw new ExternalError("SYNTHESIS_GIVEN_UP", problem);
  };
  return {
    progress,
    question(candidates: readonly Candidate[]): void {
      sum.questions += 1;
      for (const { trajectory } of candidates) {
        sum.rollouts += 1;
        sum.failed += isFinal(trajectory) ? 0 : 1;
        if (trajectory.reward !== null) {
          sum.rewards += trajectory.reward;
          sum.rewarded += 1;
        }
        count(isFinal(trajectory) ? undefined : trajectory.error);
      }
      onProgress?.(progress());
    },
    failures(drawn: DrawnQuestion): void {
      for (const failure of drawn.failed ?? []) count(failure);
    },
  };
}

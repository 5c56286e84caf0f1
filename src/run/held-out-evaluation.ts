import { existsSync } from "node:fs";
import { join } from "node:path";
import { deferring } from "../base/deferring.ts";
import { ConfigError } from "../base/errors.ts";
import { readJson } from "../base/files.ts";
import { readJsonl } from "../base/jsonl.ts";
import type { Dataset } from "../data/dataset.ts";
import type { PolicyEngine } from "../engine/engine.ts";
import type { EvaluationProgress } from "../evaluate/evaluate.ts";
import type { EvaluationRow } from "../evaluate/evaluation-row.ts";
import type { EvaluationSummary } from "../evaluate/evaluation-summary.ts";
import { evaluationName } from "../evaluate/policy-label.ts";
import {
  environmentOver,
  openNamedDataset,
  policyOf,
  renderingFacts,
  retrieverOver,
} from "./assemble.ts";
import { type Measured, setsOf } from "./evaluation-sets.ts";
import { evaluateSubject, protocolOf } from "./evaluation.ts";
import type { RunFolder } from "./folder/run-folder.ts";
import { openRoles } from "./roles.ts";
import type { Settings } from "./settings/settings-schema.ts";
import type { Session } from "./session.ts";
import type { RunEvents } from "./train/run-events.ts";

/** An evaluation with the fingerprint of what it was measured under. */
export type HeldOutEvaluation = EvaluationSummary & {
  fingerprint: string;
  /** Whether the strategy, a tool or the retriever looked at the questions' gold: a control, no result. */
  readsGold: boolean;
};

/** What is evaluated, and on which questions. */
export interface HeldOutSubject {
  settings: Settings;
  engine: PolicyEngine;
  held: Dataset;
  /** Folder that the policy was read from. */
  model: string;
}

export interface HeldOutOptions {
  /** At most so many questions, from the start. */
  limit?: number;
  signal: AbortSignal;
  onStart?: (answers: number) => void;
  onProgress?: (progress: EvaluationProgress) => void;
}

/** Evaluates the weights that an engine holds as `evaluation` says, while they are trained or after. */
export function heldOutEvaluation(
  { settings, engine, held, model }: HeldOutSubject,
  { limit, signal, onStart, onProgress }: HeldOutOptions,
): Promise<{ summary: HeldOutEvaluation; rows: EvaluationRow[] }> {
  return deferring(async (defer) => {
    const tasks = await held.tasks(limit);
    const retriever = await retrieverOver(held, settings, "evaluation");
    defer(() => retriever.close());
    const roles = openRoles(settings, { policy: { engine, model }, download: { signal } });
    defer(() => roles.close());
    const environment = environmentOver(retriever, settings, "evaluation", roles);
    const policy = await policyOf(engine, settings, model, environment);
    const rendering = await renderingFacts(settings, model);
    const protocol = protocolOf(settings, held, retriever, rendering);
    onStart?.(tasks.length * settings.evaluation.samplesPerTask);
    const rows: EvaluationRow[] = [];
    const { summary, fingerprint, readsGold } = await evaluateSubject(
      {
        ...{ settings, policy, environment, roles, protocol },
        scoring: { retriever, tokenizer: engine.tokenizer },
      },
      {
        tasks,
        signal,
        onProgress: (progress) => onProgress?.(progress),
        onRow: (row) => Promise.resolve(void rows.push(row)),
      },
    );
    return { summary: { ...summary, fingerprint, readsGold }, rows };
  });
}

type RecordedEvaluationObserver = Partial<
  Pick<RunEvents, "onEvaluationStart" | "onEvaluationProgress" | "onEvaluation">
>;

/**
 * Evaluates before, after or during training and writes it to the run's folder.
 * @param how.name of its files: `before`, `after`, `step-40`; of a set, `transfer/after`.
 * @param how.known take the result that the folder holds, where it does.
 * @param how.from folder of another run, whose result is this one's, where it has it.
 */
export async function recordedEvaluation(
  subject: HeldOutSubject,
  run: RunFolder,
  how: { name: string; known: boolean; from?: string; signal: AbortSignal; limit?: number },
  observer: RecordedEvaluationObserver,
): Promise<HeldOutEvaluation> {
  const { name, known, from, signal, limit } = how;
  const file = join(run.path, "eval", `${name}.json`);
  if (known && existsSync(file)) return (await readJson(file)) as HeldOutEvaluation;
  const taken = from === undefined ? null : await evaluationIn(from, name);
  const { summary, rows } =
    taken ??
    (await heldOutEvaluation(subject, {
      signal,
      limit,
      onStart: (answers) => observer.onEvaluationStart?.(name, answers),
      onProgress: (progress) => observer.onEvaluationProgress?.(progress),
    }));
  await run.evaluation(name, summary, rows);
  observer.onEvaluation?.(name, summary);
  return summary;
}

/** An evaluation of a run's folder; null: it has none of this name. */
async function evaluationIn(
  folder: string,
  name: string,
): Promise<{ summary: HeldOutEvaluation; rows: EvaluationRow[] } | null> {
  const file = join(folder, "eval", name);
  if (!existsSync(`${file}.json`)) return null;
  const summary = (await readJson(`${file}.json`)) as HeldOutEvaluation;
  const rows: EvaluationRow[] = [];
  for await (const { value } of readJsonl(`${file}.rows.jsonl`)) rows.push(value as EvaluationRow);
  return { summary, rows };
}

/** When a policy is evaluated: around a training, or at a step of it. */
export type EvaluationTime = "before" | "after" | `step-${number}`;

/**
 * Evaluates before, after or during training by each of `evaluation.sets`, and then by `evaluation` itself: its file says that a run is finished.
 * @param subject.held the run's own held-out questions; those of sets are opened here.
 * @throws {ConfigError} what does not fit in a set, with the set's key.
 */
export async function recordedEvaluations(
  subject: HeldOutSubject,
  run: RunFolder,
  how: { when: EvaluationTime; known: boolean; signal: AbortSignal },
  observer: RecordedEvaluationObserver & Pick<Session, "evaluatedIn">,
): Promise<Measured<HeldOutEvaluation>> {
  const { when, ...others } = how;
  const rest = { ...others, from: when === "before" ? observer.evaluatedIn : undefined };
  const measure = (by: HeldOutSubject, set: string | null): Promise<HeldOutEvaluation> =>
    recordedEvaluation(by, run, { ...rest, name: evaluationName(set, when) }, observer);
  const sets: Record<string, HeldOutEvaluation> = {};
  for (const { set, settings } of setsOf(subject.settings)) {
    try {
      const held = await openNamedDataset(settings.evaluation.dataset, settings.environment);
      sets[set] = await measure({ ...subject, settings, held }, set);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const message = `evaluation.sets.${set}: ${error.message}`;
      throw new ConfigError(error.code, message, { cause: error });
    }
  }
  return { own: await measure(subject, null), sets };
}

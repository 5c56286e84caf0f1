import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { readJsonl } from "../../base/jsonl.ts";
import type { Dataset } from "../../data/datasets.ts";
import { bestCheck, type Check, outOfPatience, type StoppingRule } from "../../train/early-stop.ts";
import { samplesLoss, type SftSamplesSettings, trainOnSamples } from "../../train/sft.ts";
import { sftBatches } from "../../train/sft-batches.ts";
import { openNamedDataset } from "../assemble.ts";
import { openCheckpoints, savingAtEnd } from "../folder/checkpoints.ts";
import { heldOutEvaluation } from "../held-out-evaluation.ts";
import { type RunFolder, withRunFolder } from "../folder/run-folder.ts";
import { requireSameData, samePolicyHash } from "../folder/same-data.ts";
import { type LoadedSamples, loadSamples, type SampleFiles } from "./sft-data.ts";
import {
  lastLoss,
  requireWork,
  resultFile,
  type SampleFacts,
  type SftCheck,
  type SftResult,
  type SftSession,
} from "./sft-session.ts";
import { studentOf } from "./student.ts";

/**
 * Trains on the samples of a file, measuring held-out samples and questions on the way.
 *
 * A step's line in `metrics.jsonl` comes first, then its measurement's, then a checkpoint where it is the best so far: whatever an
 * interruption leaves, the newest checkpoint and the lines up to it say all that a resumed run needs.
 */
export async function learnFromSamples(
  session: SftSession,
  sft: SftSamplesSettings,
  files: SampleFiles,
): Promise<SftResult> {
  const { resolved, options, engine, model, from } = session;
  const { settings } = resolved;
  const { out, version, signal } = options;
  const reader = { engine, student: await studentOf(engine, settings, model), settings: sft };
  const train = await loadSamples(files.train, reader, "training");
  const read =
    files.validation === null ? null : await loadSamples(files.validation, reader, "validation");
  const validation = read === null || read.samples.length === 0 ? null : read;
  const asks = sft.validation.questions > 0;
  const held = asks ? await openNamedDataset(settings.evaluation.dataset) : null;
  requireMeasure(sft, validation);
  const sizes = train.samples.map(({ tokens }) => tokens);
  const batches = sftBatches(sizes, { ...sft, seed: settings.seed });
  const checks = from === null ? [] : await knownChecks(out, from.step);
  const plan: Plan = { sft, train, validation, held, batches, checks };
  const finished = from !== null && (from.step >= batches.length || isEnough(plan));
  if (from !== null)
    await requireSameData(out, "samples", { samples: train, validationSamples: validation });
  requireWork(session, finished, batches.length);
  const download = { ...options.download, signal };
  const hashes = {
    policy: await samePolicyHash(model, from === null ? null : out, download),
    samples: train.sha256,
    ...(validation === null ? {} : { validationSamples: validation.sha256 }),
    ...(held === null ? {} : { evaluationDataset: held.fingerprint }),
  };
  const facts = { train: factsOf(train), validation: read && factsOf(read) };
  options.onSamples?.({ ...facts, totalSteps: batches.length });
  const begun = { version, hashes, steps: batches.length, afterStep: from?.step ?? -1 };
  const { events } = session;
  const { onEvent } = options;
  const opening = { engine, out, resolved, facts: begun, events, onEvent, signal };
  return withRunFolder(opening, async (run) => {
    await rm(resultFile(out), { force: true });
    if (from !== null) await engine.load(from.path);
    const { done, loss } = await learn(session, { ...plan, run }, finished);
    const kept = bestOf(plan)?.step ?? done;
    if (kept !== done) await engine.load(run.checkpoint(kept));
    const policy = join(out, "policy");
    await engine.save(policy, { dtype: "F16", merged: true });
    return {
      ...{ policy, checkpoint: run.checkpoint(kept), steps: done, loss },
      ...{ stoppedEarly: done < batches.length, samples: facts },
      validation: summaryOf(checks, kept),
    };
  });
}

/** What is learned from, in which steps, and what is measured. */
interface Plan {
  sft: SftSamplesSettings;
  train: LoadedSamples;
  validation: LoadedSamples | null;
  held: Dataset | null;
  batches: readonly (readonly number[])[];
  /** All so far, the first of step 0. */
  checks: SftCheck[];
}

async function learn(
  session: SftSession,
  plan: Plan & { run: RunFolder },
  finished: boolean,
): Promise<{ done: number; loss: number | null }> {
  const { resolved, options, engine, from } = session;
  const { sft, train, validation, held, batches, checks, run } = plan;
  const { every } = resolved.settings.checkpoints;
  const measures = validation !== null || held !== null;
  const isDue = (step: number): boolean =>
    measures && (step % sft.validation.everySteps === 0 || step === batches.length);
  let done = from?.step ?? 0;
  // A step is whole with its line, which a run that goes on from its checkpoint does not write again.
  let isWhole = true;
  let loss = await lastLoss(run.path);
  const checkpoints = await openCheckpoints(engine, run.path, {
    ...{ ...resolved.settings.checkpoints, firstStep: done },
    best: () => bestOf(plan)?.step ?? null,
  });
  // The start, or what an interruption came before.
  const isKnown = checks.some(({ step }) => step === done);
  if (isDue(done) && !isKnown) checks.push(await check(session, plan, done));
  let last = performance.now();
  await savingAtEnd(
    checkpoints,
    () => (isWhole ? done : null),
    async () => {
      await trainOnSamples({
        ...{ engine, settings: sft, samples: train.samples, batches, signal: options.signal },
        firstStep: finished || isEnough(plan) ? batches.length : done,
        onStep: async (each) => {
          const seconds = (performance.now() - last) / 1000;
          [done, loss, isWhole] = [each.step, each.loss, false];
          const { objective = NaN, gradNorm, tokens } = each;
          await run.metrics(
            done,
            { "losses/sft": loss, "losses/objective": objective, "optimizer/grad_norm": gradNorm },
            { seconds, tokensPerSecond: tokens / seconds },
          );
          isWhole = true;
          options.onStep?.({ ...each, totalSteps: batches.length, seconds });
          if (isDue(done)) checks.push(await check(session, plan, done));
          const isBest = bestOf(plan)?.step === done;
          if (isBest || done % every === 0 || done === batches.length) await checkpoints.save(done);
          last = performance.now();
          return !isEnough(plan);
        },
      });
    },
  );
  return { done, loss };
}

/** Measures what is held out, and writes its line. */
async function check(
  { resolved: { settings }, options, engine, model }: SftSession,
  { sft, validation, held, run }: Plan & { run: RunFolder },
  step: number,
): Promise<SftCheck> {
  const { signal } = options;
  const begun = performance.now();
  const loss = validation === null ? null : await samplesLoss(engine, validation.samples, signal);
  let em: number | null = null;
  if (held !== null) {
    const subject = { settings, engine, held, model };
    const limit = sft.validation.questions;
    const { summary, rows } = await heldOutEvaluation(subject, { limit, signal });
    await run.evaluation(`step-${step}`, summary, rows);
    em = summary.metrics.em;
  }
  const seconds = (performance.now() - begun) / 1000;
  const data = {
    ...(loss === null ? {} : { "validation/loss": loss }),
    ...(em === null ? {} : { "validation/em": em }),
  };
  await run.metrics(step, data, { seconds });
  options.onCheck?.({ step, loss, em, seconds });
  return { step, loss, em };
}

/** Measurements that an interrupted run wrote down up to a step. */
async function knownChecks(out: string, lastStep: number): Promise<SftCheck[]> {
  const checks: SftCheck[] = [];
  const file = join(out, "metrics.jsonl");
  if (!existsSync(file)) return checks;
  for await (const { value } of readJsonl(file, { tolerateCutEnd: true })) {
    const { step, data } = value as { step: number; data: Record<string, number> };
    const { "validation/loss": loss = null, "validation/em": em = null } = data;
    if (step <= lastStep && (loss !== null || em !== null)) checks.push({ step, loss, em });
  }
  return checks;
}

function ruleOf({ validation }: SftSamplesSettings): StoppingRule {
  const { metric, patience, minImprovement } = validation;
  return { better: metric === "em" ? "higher" : "lower", patience, minImprovement };
}

/** By what checkpoints are compared. */
function valuesOf({ sft, checks }: Pick<Plan, "sft" | "checks">): Check[] {
  return checks.map((each) => ({ step: each.step, value: each[sft.validation.metric] ?? NaN }));
}

/** The checkpoint to keep; undefined: the last one. */
function bestOf(plan: Pick<Plan, "sft" | "checks">): Check | undefined {
  if (plan.sft.validation.keep === "last") return undefined;
  return bestCheck(valuesOf(plan), ruleOf(plan.sft).better);
}

function isEnough(plan: Pick<Plan, "sft" | "checks">): boolean {
  return outOfPatience(valuesOf(plan), ruleOf(plan.sft));
}

/** The first measurement, the last, and that of the policy that was kept. */
function summaryOf(checks: readonly SftCheck[], kept: number): SftResult["validation"] {
  const [before, last] = [checks[0], checks.at(-1)];
  if (before === undefined || last === undefined) return null;
  return { before, last, kept: checks.findLast(({ step }) => step === kept) ?? last };
}

function factsOf({ samples, ...facts }: LoadedSamples): SampleFacts {
  return { ...facts, samples: samples.length };
}

/** @throws {ConfigError} RECIPE_BAD_VALUE when training is to stop by a loss that nothing is held out for. */
function requireMeasure(
  { validation: { metric, patience } }: SftSamplesSettings,
  validation: LoadedSamples | null,
): void {
  if (metric === "em" || patience === null || validation !== null) return;
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `sft.validation.patience is ${patience}, and no samples are held out whose loss could be measured. Name them by sft.validationData, or set validation.metric to em and validation.questions.`,
  );
}

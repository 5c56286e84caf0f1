import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { readJsonl } from "../../base/jsonl.ts";
import type { LocalEngine } from "../../engine/local/local-engine.ts";
import { preferenceLosses } from "../../losses/preference/index.ts";
import { bestCheck, outOfPatience, type Check } from "../../train/early-stop.ts";
import {
  measurePairs,
  preferenceSteps,
  trainPreference,
  type PreferenceSettings,
  type PreferenceStep,
} from "../../train/preference.ts";
import type { RunEvent } from "../../watch/run-event.ts";
import { openEngine, policyFolder, requireTrainable, type PolicyDownload } from "../assemble.ts";
import { openCheckpoints, savingAtEnd } from "../folder/checkpoints.ts";
import { withClaimedRun, type RunFolderUse } from "../folder/claim-run.ts";
import { findPairFiles, loadPairs, type LoadedPairs } from "./preference-data.ts";
import { requireSameData, samePolicyHash } from "../folder/same-data.ts";
import { resumePoint } from "../folder/resume-point.ts";
import { type RunFolder, withRunFolder } from "../folder/run-folder.ts";
import type { Settings } from "../settings/settings-schema.ts";
import type { ResolvedSettings } from "../settings/settings.ts";
import { studentOf } from "./student.ts";

export interface RunPreferenceOptions extends RunFolderUse {
  /** Run folder. */
  out: string;
  /** agentrl's version, for the manifest. */
  version: string;
  signal: AbortSignal;
  /** When the policy is one of the hub. */
  download?: PolicyDownload;
  /** What is written to `events.jsonl`. */
  onEvent?: (event: RunEvent) => void;
  /** Once the pairs are read. */
  onPairs?: (pairs: Omit<LoadedPairs, "pairs"> & { count: number; steps: number }) => void;
  onValidation?: (step: number, metrics: Record<string, number>) => void;
  onStep?: (step: PreferenceStep & { totalSteps: number }) => void;
}

export interface PreferenceResult {
  /** Folder of the policy alone, in half precision. */
  policy: string;
  checkpoint: string;
  /** Steps done in all. */
  steps: number;
  /** Whether it ended before its last step, because the validation loss rose. */
  stoppedEarly: boolean;
  pairs: number;
  skipped: LoadedPairs["skipped"];
  /** Means over the validation pairs, before and of the policy that was kept; null where there are none. */
  validation: { before: Record<string, number>; after: Record<string, number> } | null;
}

/**
 * Trains on pairs as a recipe's `preference` says, and writes the run folder and, at the end, the policy alone in `policy/`.
 * Interrupted, it keeps a checkpoint of the last whole step; resumed from it, it goes on as if it had not stopped.
 *
 * @throws {ConfigError} RECIPE_BAD_VALUE when no pairs are named; RUN_NOTHING_LEFT when there is no step to resume.
 * @throws as `findPairFiles` and `loadPairs`.
 */
export async function runPreference(
  resolved: ResolvedSettings<Settings>,
  options: RunPreferenceOptions,
): Promise<PreferenceResult> {
  const { settings } = resolved;
  requireTrainable(settings);
  const files = await findPairFiles(resolved);
  const { out, signal } = options;
  return withClaimedRun({ out, command: "dpo", resolved, use: options, signal }, () =>
    trainOnPairs(resolved, options, files),
  );
}

async function trainOnPairs(
  resolved: ResolvedSettings<Settings>,
  options: RunPreferenceOptions,
  files: Awaited<ReturnType<typeof findPairFiles>>,
): Promise<PreferenceResult> {
  const { settings } = resolved;
  const { out, version } = options;
  const { from, events } = await resumePoint(out, options.resume);
  const download = { ...options.download, signal: options.signal };
  const model = await policyFolder(settings.policy.from, download);
  const engine = await openEngine(settings, model, download);
  try {
    const preference = settings.preference as PreferenceSettings;
    const student = await studentOf(engine, settings, model);
    const reader = { engine, student, hints: preference.hints };
    const train = await loadPairs(files.train, reader);
    const validation = files.validation === null ? null : await loadPairs(files.validation, reader);
    if (from !== null)
      await requireSameData(out, "pairs", { pairs: train, validationPairs: validation });
    const totalSteps = preferenceSteps(preference, train.pairs.length);
    const history = from === null ? [] : await measuredLosses(out, from.step);
    const session = {
      ...{ settings, preference, options, engine, train, validation, totalSteps },
      history,
    };
    const finished = from !== null && (from.step >= totalSteps || enough(session));
    if (finished && existsSync(join(out, "policy", "model.safetensors"))) {
      throw new ConfigError(
        "RUN_NOTHING_LEFT",
        `${out}: its newest checkpoint is step ${from.step} of ${totalSteps}; nothing is left to do. Raise preference.epochs, or evaluate ${join(out, "policy")}.`,
      );
    }
    const { pairs, ...facts } = train;
    options.onPairs?.({ ...facts, count: pairs.length, steps: totalSteps });
    const hashes = {
      policy: await samePolicyHash(model, from === null ? null : out, download),
      pairs: train.sha256,
      ...(validation === null ? {} : { validationPairs: validation.sha256 }),
    };
    const { signal, onEvent } = options;
    const begun = { version, hashes, steps: totalSteps, afterStep: from?.step ?? -1 };
    const opening = { engine, out, resolved, facts: begun, events, onEvent, signal };
    return await withRunFolder(opening, async (run) => {
      // Written last: while it is not there, there is something to do.
      await rm(join(out, "policy"), { recursive: true, force: true });
      // What training starts from, also in a resumed run.
      if (preferenceLosses.get(preference.loss.name, "preference.loss").needsReference)
        await engine.snapshot("reference");
      if (from !== null) await engine.load(from.path);
      return learn({ ...session, run }, from?.step ?? 0, finished);
    });
  } finally {
    await engine.close();
  }
}

interface Session {
  settings: Settings;
  preference: PreferenceSettings;
  options: RunPreferenceOptions;
  engine: LocalEngine;
  train: LoadedPairs;
  validation: LoadedPairs | null;
  totalSteps: number;
  /** Measurements of the validation pairs so far, the first of step 0. */
  history: Measurement[];
}

interface Measurement {
  step: number;
  metrics: Record<string, number>;
}

async function learn(
  session: Session & { run: RunFolder },
  firstStep: number,
  finished: boolean,
): Promise<PreferenceResult> {
  const { settings, preference, options, run, engine, train, totalSteps, history } = session;
  const { out, signal } = options;
  let done = firstStep;
  // A step is whole with its line, which a run that goes on from its checkpoint does not write again.
  let isWhole = true;
  const checkpoints = await openCheckpoints(engine, out, {
    ...{ ...settings.checkpoints, firstStep },
    best: () =>
      preference.patience === null ? null : (bestCheck(checksOf(history), "lower")?.step ?? null),
  });
  if (firstStep === 0) {
    const before = await measured(session, 0);
    if (before !== null) await run.metrics(0, before, {});
  }
  await savingAtEnd(
    checkpoints,
    () => (isWhole ? done : null),
    async () => {
      await trainPreference({
        ...{ engine, settings: preference, pairs: train.pairs, seed: settings.seed, signal },
        firstStep: finished ? totalSteps : firstStep,
        onStep: async (each) => {
          isWhole = false;
          const { step, metrics, timings, tokens } = each;
          const last = step === totalSteps;
          const due = last || step % preference.validateEvery === 0;
          const found = due ? await measured(session, step) : null;
          await run.metrics(step, { ...metrics, ...found }, { ...timings, tokens });
          [done, isWhole] = [step, true];
          const isBest =
            preference.patience !== null &&
            found !== null &&
            bestCheck(checksOf(history), "lower")?.step === step;
          if (isBest || last || step % settings.checkpoints.every === 0)
            await checkpoints.save(step);
          options.onStep?.({ ...each, totalSteps });
          return !enough(session);
        },
      });
    },
  );
  const best = preference.patience === null ? undefined : bestCheck(checksOf(history), "lower");
  const kept = best?.step ?? done;
  if (kept !== done) await engine.load(run.checkpoint(kept));
  const policy = join(out, "policy");
  await rm(`${policy}.partial`, { recursive: true, force: true });
  await engine.save(`${policy}.partial`, { dtype: "F16", merged: true });
  await rename(`${policy}.partial`, policy);
  const [before, after] = [history[0], history.findLast(({ step }) => step === kept)];
  return {
    ...{ policy, checkpoint: run.checkpoint(kept), steps: done },
    ...{ stoppedEarly: done < totalSteps, pairs: train.pairs.length, skipped: train.skipped },
    validation:
      before === undefined || after === undefined
        ? null
        : { before: before.metrics, after: after.metrics },
  };
}

/** Whether the validation loss says to stop. */
function enough({ preference: { patience }, history }: Session): boolean {
  return outOfPatience(checksOf(history), { better: "lower", patience, minImprovement: 0 });
}

const VALIDATION_LOSS = "validation/losses/preference";

/** Measures the validation pairs, where there are any. */
async function measured(
  { engine, preference, validation, history, options }: Session,
  step: number,
): Promise<Record<string, number> | null> {
  if (validation === null) return null;
  const { pairs } = validation;
  const found = await measurePairs(engine, preference, pairs, options.signal);
  const metrics = Object.fromEntries(
    Object.entries(found).map(([name, value]) => [`validation/${name}`, value]),
  );
  history.push({ step, metrics });
  options.onValidation?.(step, metrics);
  return metrics;
}

/** The validation losses so far. */
function checksOf(history: readonly Measurement[]): Check[] {
  return history.map(({ step, metrics }) => ({ step, value: metrics[VALIDATION_LOSS] ?? NaN }));
}

/** What an interrupted run measured up to a step. */
async function measuredLosses(out: string, lastStep: number): Promise<Measurement[]> {
  const history: Measurement[] = [];
  const file = join(out, "metrics.jsonl");
  for await (const { value } of readJsonl(file, { tolerateCutEnd: true })) {
    const { step, data } = value as { step: number; data: Record<string, number> };
    const own = Object.entries(data).filter(([name]) => name.startsWith("validation/"));
    if (step <= lastStep && own.length > 0)
      history.push({ step, metrics: Object.fromEntries(own) });
  }
  return history;
}

import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError } from "../base/errors.ts";
import { removeAtOnce } from "../base/files.ts";
import { suggest } from "../base/nearest.ts";
import { withClaimedRun } from "./folder/claim-run.ts";
import { RUN_FILE, type RunStage, readRunFile, runStage, writeRunFile } from "./folder/run-file.ts";
import { startRun } from "./folder/run-folder.ts";
import type { Session } from "./session.ts";
import { type Stage, stageList } from "./settings/stages.ts";
import { type Settings, settingsSchema } from "./settings/settings-schema.ts";
import { type ResolvedSettings, withOverrides } from "./settings/settings.ts";
import { inside, settingsHash } from "./settings/settings-hash.ts";
import { stageHeads } from "./settings/stage-heads.ts";
import { shippedStages } from "./stages/shipped.ts";
import { withStageSession } from "./stages/open-session.ts";
import type { StagePart, StageResult, StageSession } from "./stages/stage.ts";
import { ownOverrides, stageOrigin } from "./stages/stage-settings.ts";

type Resolved = ResolvedSettings<Settings>;

/** A stage as its own settings say, ready to run. */
export interface PlannedStage {
  stage: Stage;
  /** `stages/2-sft` below the run's folder. */
  folder: string;
  resolved: Resolved;
  /** Folders of the draws that it learns from. */
  draws: readonly string[];
}

/** What came of a stage. */
export interface StageOutcome extends Pick<
  RunStage,
  "number" | "name" | "do" | "facts" | "policy"
> {
  folder: string;
}

/**
 * Runs one stage as a run of its own: the driver holds the folder's lock, refuses or replaces what is there, records how the run ended,
 * and closes what the stage opened.
 *
 * @throws {ConfigError} RUN_EXISTS and RUN_SETTINGS_CHANGED for a folder that cannot be used so.
 * @throws {ExternalError} RUN_BUSY
 * @throws what the stage throws.
 */
export function runAlone<R extends StageResult>(
  part: StagePart<R>,
  resolved: Resolved,
  session: Session,
  { draws = [], options = {} }: { draws?: readonly string[]; options?: object } = {},
): Promise<R> {
  const { out, version, signal } = session;
  const { settings } = resolved;
  return withClaimedRun({ out, stage: part, settings, use: session, signal }, async () => {
    const work = async (opened: StageSession): Promise<R> => {
      // The package's own stages start their run once they know what its manifest says of them.
      if (!shippedStages.has(part.name)) {
        const stages = [runStage(part.name, part.name, { number: 1 })];
        await startRun(out, opened.record, { version, stages });
      }
      return part.run(opened, { ...options });
    };
    const result = await withStageSession(resolved, session, work, draws);
    await recordLeft(out, part.name, result);
    return result;
  });
}

/** Writes into `run.json` what a stage left. */
async function recordLeft(out: string, name: string, result: StageResult): Promise<void> {
  const stages = await readRunFile(out);
  if (stages === null) return;
  const { policy } = leftBy(result);
  const done = stages.map((stage): RunStage =>
    stage.do === name
      ? { ...stage, done: true, policy: policy === null ? null : inside(out, policy) }
      : { ...stage, done: true },
  );
  await writeRunFile(out, done);
}

/** A stage's policy, and the numbers that claims may name. */
function leftBy(result: StageResult): Pick<RunStage, "policy" | "facts"> {
  const { policy, result: nested, ...facts } = result as StageResult & { result?: object };
  delete (facts as { checkpoint?: unknown }).checkpoint;
  // Syntheses and evaluations return their facts as `result`; their other fields, such as times, differ from run to run.
  return { policy, facts: nested === undefined ? facts : { ...nested } };
}

/**
 * Runs a recipe's stages in order, each in a folder of its own and from the policy and the draws that it names. What each did is
 * written to `run.json` as soon as it is done. The caller holds the run's folder.
 *
 * @param options.run runs a planned stage; `runPlanned` when absent.
 * @param options.around whether the caller evaluates before and after them.
 * @returns what came of each, and the policy that the last one trained; null where none did.
 * @throws {ConfigError} RECIPE_BAD_VALUE when a stage names a policy or draws that no earlier one made.
 */
export async function runStages(
  resolved: Resolved,
  session: Session,
  { run = runPlanned, around = true }: { run?: typeof runPlanned; around?: boolean } = {},
): Promise<{ stages: StageOutcome[]; policy: string | null }> {
  const { out, resume = false, overwrite = false, onStage } = session;
  const stages = stageList(resolved.settings.stages ?? []);
  checkReferences(resolved, stages);
  const all = stages.map(entryOf);
  const known = resume ? await finishedStages(out) : [];
  const done: (StageOutcome & { settings: string })[] = [];
  const record = (): Promise<void> => {
    const entries = all.map((entry, i) => ({ ...entry, ...recorded(out, done[i]) }));
    const evaluation = (name: string): RunStage[] => (around ? [runStage(name, "evaluate")] : []);
    return writeRunFile(out, [...evaluation("before"), ...entries, ...evaluation("after")]);
  };
  // Until a stage must run again, the file keeps the stages that have ended: a kill must not lose them.
  if (known.length === 0) await record();
  // After the first stage that must run again, later results are stale; only that stage may continue a partial folder.
  let goesOn = resume;
  for (const stage of stages) {
    const planned = await planStage(resolved, stage, { out, done });
    const { folder } = planned;
    const settings = settingsHash(ownSettings(planned), out);
    const before = goesOn ? known[done.length] : undefined;
    const part = partOf(stage);
    const isDone =
      before !== undefined &&
      existsSync(folder) &&
      before.do === stage.do &&
      before.folder === inside(out, folder) &&
      before.settings === settings;
    onStage?.(stage, stages.length, isDone);
    if (isDone) {
      const policy = before.policy === null ? null : join(out, before.policy);
      done.push({ ...before, folder, policy, settings });
      continue;
    }
    // The synthesis itself detects draws under other settings; it may only have to select again.
    const isBegun =
      goesOn && existsSync(folder) && (before === undefined || part.resumesBy === "itself");
    goesOn = false;
    // Hours of training may be in a finished stage that other settings make anew.
    if (known[done.length] !== undefined && !isBegun && !overwrite) await setAside(folder);
    if ((resume || overwrite) && !isBegun) await removeAtOnce(folder);
    // From here on this stage and all later ones count as not done.
    await record();
    const outcome = await runOrAgain(planned, isBegun, (it, goes) =>
      run(it, { ...session, resume: goes }),
    );
    const { number, name } = stage;
    done.push({ number, name, do: stage.do, folder, ...outcome, settings });
    await record();
  }
  const outcomes = done.map(({ settings: _, ...outcome }): StageOutcome => outcome);
  return {
    stages: outcomes,
    policy: outcomes.findLast(({ policy }) => policy !== null)?.policy ?? null,
  };
}

/** Runs one stage of several in its folder. */
export async function runPlanned(
  { stage, folder, resolved, draws }: PlannedStage,
  session: Session,
): Promise<Pick<StageOutcome, "policy" | "facts">> {
  const own: Session = {
    ...session,
    out: folder,
    overwrite: false,
    onDraw: ({ questions, rollouts }) => {
      session.onStageProgress?.({ done: questions, total: null, note: `${rollouts} rollouts` });
    },
  };
  return leftBy(await runAlone(partOf(stage), resolved, own, { draws, options: stage.with ?? {} }));
}

/** The stage part that an entry of `stages` names, of the package or of a plug-in. */
export function partOf({ do: name, number }: Pick<Stage, "do" | "number">): StagePart {
  const head = stageHeads.get(name, `stages.${number - 1}.do`);
  // A plug-in's stage says itself how it runs.
  return shippedStages.get(name) ?? (head as StagePart);
}

function entryOf({ number, name, do: does, from, data, with: options = {} }: Stage): RunStage {
  const folder = `stages/${number}-${name}`;
  const reads = [from, ...[data ?? []].flat()];
  return { number, name, do: does, folder, options, reads, done: false, policy: null, facts: {} };
}

/** A finished stage as `run.json` has it, its paths relative to the run's folder; nothing of one that has not ended. */
function recorded(
  out: string,
  outcome: (StageOutcome & { settings: string }) | undefined,
): Partial<RunStage> {
  if (outcome === undefined) return {};
  const { facts, settings } = outcome;
  const policy = outcome.policy === null ? null : inside(out, outcome.policy);
  return { done: true, policy, facts, settings };
}

/**
 * The stages of an earlier run that have ended, up to the first that has not.
 * @throws {ConfigError} RUN_EXISTS for stages of a version that wrote no `run.json`: their folders would be taken for unfinished ones.
 */
async function finishedStages(out: string): Promise<RunStage[]> {
  const stages = await readRunFile(out);
  if (stages === null && existsSync(join(out, "stages.json"))) {
    throw new ConfigError(
      "RUN_EXISTS",
      `${out}: its stages were run by an older version of agentrl, which wrote no ${RUN_FILE}. Resume it with that version, or start a new run in another folder.`,
    );
  }
  const own = (stages ?? []).filter(({ number }) => number > 0);
  const open = own.findIndex(({ done }) => !done);
  return open < 0 ? own : own.slice(0, open);
}

/** A stage's settings without what belongs to other kinds of stage: a longer training does not change the fine-tuning before it. */
function ownSettings({ stage, resolved }: PlannedStage): Partial<Settings> {
  const others = new Set<string>(stageHeads.parts.flatMap(({ block }) => block ?? []));
  const own = partOf(stage).block;
  if (own !== undefined) others.delete(own);
  const entries = Object.entries(resolved.settings).filter(([key]) => !others.has(key));
  const all: Record<string, unknown> = { ...Object.fromEntries(entries), with: stage.with };
  return all;
}

/** Suffix of a finished stage's folder that was made anew under other settings. */
const REPLACED = ".replaced";

/** Renames a finished stage's folder; the one set aside before is removed. */
async function setAside(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  await removeAtOnce(folder + REPLACED);
  await rename(folder, folder + REPLACED);
}

/**
 * A stage that had ended when it was interrupted, before that was written down, has nothing left to do: it is run anew, which gives
 * the same.
 */
async function runOrAgain<T>(
  planned: PlannedStage,
  resume: boolean,
  run: (planned: PlannedStage, resume: boolean) => Promise<T>,
): Promise<T> {
  try {
    return await run(planned, resume);
  } catch (error) {
    if (!resume || !(error instanceof ConfigError) || error.code !== "RUN_NOTHING_LEFT")
      throw error;
    await rm(planned.folder, { recursive: true });
    return run(planned, false);
  }
}

/** A stage's own settings: those of the recipe, its own on top, and the folders of what it builds on. */
async function planStage(
  resolved: ResolvedSettings<Settings>,
  stage: Stage,
  { out, done }: { out: string; done: readonly StageOutcome[] },
): Promise<PlannedStage> {
  const origin = stageOrigin(stage);
  const overrides = ownOverrides(resolved, stage, done);
  const trained = done.filter(({ policy }) => policy !== null);
  const from =
    stage.from === "last" ? trained.at(-1) : trained.findLast(({ name }) => name === stage.from);
  if (stage.from !== "start" && from?.policy != null)
    overrides.push({ key: "policy.from", value: from.policy, origin });
  const draws = drawsOf(stage, done);
  const { dataKey } = partOf(stage);
  if (dataKey !== undefined && draws.length > 0) {
    const [only] = draws;
    overrides.push({ key: dataKey, value: draws.length === 1 ? only : draws, origin });
  }
  const own = await withOverrides(settingsSchema, resolved, overrides);
  // As a recipe of its own it is this stage alone.
  const { stages: _, ...settings } = own.settings;
  return {
    stage,
    folder: join(out, "stages", `${stage.number}-${stage.name}`),
    resolved: { ...own, settings },
    draws,
  };
}

/** The folders of the draws that a stage learns from: the last ones before it, or those that it names. */
function drawsOf({ data }: Stage, done: readonly StageOutcome[]): string[] {
  const drawn = done.filter((each) => partOf(each).makes === "draws");
  if (data === undefined) return drawn.slice(-1).map(({ folder }) => folder);
  return [data]
    .flat()
    .flatMap((name) => drawn.findLast((each) => each.name === name)?.folder ?? []);
}

/** Before the first stage runs: every name that a stage uses is that of an earlier one. */
function checkReferences({ recipe }: ResolvedSettings<Settings>, stages: readonly Stage[]): void {
  stages.forEach((stage, i) => {
    const before = stages.slice(0, i);
    const making = (what: StagePart["makes"]): string[] =>
      before.filter((each) => partOf(each).makes === what).map(({ name }) => name);
    const [trained, drawn] = [making("policy"), making("draws")];
    const refuse = (key: string, value: string, known: readonly string[]): never => {
      throw new ConfigError(
        "RECIPE_BAD_VALUE",
        `${recipe.path}: stage ${stage.number} (${stage.name}): ${key} is "${value}", which no stage before it made. ${suggest(value, known)}`,
      );
    };
    if (!["start", "last", ...trained].includes(stage.from))
      refuse("from", stage.from, ["start", "last", ...trained]);
    const missing = [stage.data ?? []].flat().find((name) => !drawn.includes(name));
    if (missing !== undefined) refuse("data", missing, drawn);
  });
}

import { ConfigError } from "../base/errors.ts";
import type { CalibrationResult, ClaimResult, Reproduction } from "./claims/claim-results.ts";
import { calibrationOf, judgedByInstrument } from "./claims/instrument.ts";
import type { SeedPlan } from "./claims/looks.ts";
import { packMeasures } from "./claims/kept-measures.ts";
import { type KeptResults, measuresOf } from "./claims/kept-results.ts";
import type { RunOrigin } from "./claims/run-origin.ts";
import type { ArmQuestions } from "./arm-questions.ts";
import type { PolicyDownload } from "../run/assemble.ts";
import { openArmInputs } from "./arms/arm-inputs.ts";
import { type ArmRun, armFolder, armRuns, type ArmSource } from "./arms/arm-runs.ts";
import type { ArmStore } from "./arms/arm-store.ts";
import { type FinishedArms, type FoundIn, openFinishedArms } from "./arms/finished-arms.ts";
import { shortHash } from "../evaluate/fingerprint.ts";
import { machineFacts } from "../run/folder/run-folder.ts";
import { requirePaper } from "../run/checks/paper-tier.ts";
import { CALIBRATION, claimsAt, experiments } from "../run/claims.ts";
import { baseDifferences, claimsHash, recipeHead } from "./claim-settings.ts";
import { judgeClaims, type RunsOf } from "./judge-claims.ts";
import { checkClaimMetrics, type Measures, openMeasures } from "./measured-runs.ts";
import type { Claim, RecipeFile, Tier } from "../run/settings/recipe-schema.ts";
import { type Settings, settingsSchema } from "../run/settings/settings-schema.ts";
import { SHARE_PRIOR } from "./claims/claim-test.ts";
import { loadSettings, type Override, resolveSettings } from "../run/settings/settings.ts";

/** What a run is given. */
export interface ArmUse {
  /** The run's own folder, below the reproduction's. */
  folder: string;
  signal: AbortSignal;
  /** Folder of a run of these arms whose evaluation before training is this one's. */
  evaluatedIn?: string;
}

export interface ReproduceOptions {
  tier: Tier;
  /** Each arm runs once per seed; an open claim goes on to the next look. */
  plan: SeedPlan;
  /** Settings on top of every arm. */
  overrides?: readonly Override[];
  /** Version, day and command of this call, for the runs that it makes. A result is reused by the same version only. */
  made: Omit<RunOrigin, "machine">;
  /** Folder for `runs.jsonl` and the runs; results that it holds are taken over. */
  out: string;
  /** Kept results of the recipe, whose runs are not made again; null: none. */
  kept?: KeptResults | null;
  /** Finished arms of earlier reproductions, for reuse; null: neither read nor added to. */
  store: ArmStore | null;
  signal: AbortSignal;
  /** For policies that are not here: they are downloaded or made before the first run. */
  download?: PolicyDownload;
  /** Trains and measures; what it gives is a record whose numbers claims name by dotted paths: `eval.after.em`. */
  run: (run: ArmRun, use: ArmUse) => Promise<unknown>;
  /** Runs at once. The results do not depend on it. */
  sideBySide: number;
  /** The metric by held-out question, which the intervals need; null where the run does not have it. */
  questionsOf: (run: ArmRun, metric: string) => Promise<ArmQuestions | null>;
  /** Called with the results after each look at which a claim stays open: what follows takes hours, and may be cut off. */
  onLook?: (result: Reproduction) => Promise<void>;
  /** Called before each run, and once for each that is taken over: from where. */
  onArm?: (arm: { run: ArmRun; number: number; total: number; found: FoundIn | null }) => void;
}

/**
 * Runs every arm of every claim over seeds and says what the results mean for each claim. After each look only the arms of claims that
 * further seeds may answer run again; a decided claim gets no further seeds (sequential stopping). Arms of equal settings run once, seeds are gone
 * through one after the other (so that an interrupted reproduction has something of every arm), and each result is appended as it comes: the
 * same command continues after an interruption.
 *
 * @throws {ConfigError} RECIPE_BAD_VALUE when the recipe has no claims, or a claim's metric is no number of the results; as
 *   `checkSettings` for any arm, before the first run.
 */
export async function reproduce(
  file: RecipeFile,
  options: ReproduceOptions,
): Promise<Reproduction> {
  const { tier, plan, out, made, store, signal } = options;
  const recipe = claimsAt(file, tier);
  const download = { ...options.download, signal };
  if (experiments(recipe).length === 0) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${recipe.path}: has no claims, so there is nothing to reproduce; see \`agentrl recipes list --json\` for recipes that have.`,
    );
  }
  const settings = resolveSettings(recipe, { tier, overrides: options.overrides ?? [] });
  await requirePaper(await loadSettings(settingsSchema, settings));
  const source = { recipe, tier, plan, overrides: options.overrides ?? [], version: made.version };
  const looks = openLooks({ ...source, inputs: openArmInputs(download) }, plan);
  const origin = { ...made, machine: machineFacts() };
  // Bad settings of any arm are found before the folder is made.
  let runs = await looks.runs();
  checkMetrics(recipe, runs);
  const finished = await openFinishedArms(out, { store, origin });
  const kept = new Map((options.kept?.runs ?? []).map((run) => [run.key, run]));
  const before = options.kept == null ? new Map<string, never>() : measuresOf(options.kept);
  const measures = openMeasures(
    recipe,
    {
      resultOf: ({ key }) => finished.known.get(key)?.result,
      folderOf: (run) => armFolder(out, run),
      questionsOf: options.questionsOf,
    },
    before,
  );
  const runsOf: RunsOf = (claim, arm, metric) =>
    measures.of(claim, arm, metric, runs).slice(0, looks.seedsOf(claim.id));
  const settingsOf = ({ id }: Claim, arm: string): Settings => {
    const run = runs.find(({ arms }) => arms.includes(`${id}/${arm}`));
    if (run === undefined) throw new Error(`no run of ${id}/${arm}`);
    return run.settings.settings;
  };
  const told = new Set<string>();
  const asFound = async (found: ClaimResult[]): Promise<Reproduction> => {
    const taken = experiments(recipe).map(({ id }) => looks.seedsOf(id));
    const own = new Set(runs.map(({ key }) => key));
    const packed = packMeasures(new Map([...measures.all()].filter(([key]) => own.has(key))));
    const calibration = tier === "smoke" ? null : calibrated(recipe, runsOf);
    return {
      ...recipeHead(recipe),
      tier,
      seeds: plan.seeds.slice(0, Math.max(...taken)),
      looks: [...plan.looks],
      levels: [...plan.levels],
      prior: SHARE_PRIOR,
      calibration,
      claims: judgedByInstrument(found, calibration, plan.levels.at(-1) ?? 0),
      base: await baseDifferences(recipe, tier),
      claimsHash: claimsHash(recipe, tier, options.overrides),
      runs: runs.map(({ key, seed, arms }) => ({
        key,
        seed,
        arms,
        origin: finished.known.get(key)?.origin ?? kept.get(key)?.origin ?? origin,
        measured: packed.measured[key] ?? {},
      })),
      questions: packed.questions,
    };
  };
  try {
    for (;;) {
      await runMissing(runs, { ...options, finished, measures, told });
      const claims = judgeClaims(recipe, { tier, levelOf: looks.levelOf }, runsOf, settingsOf);
      const result = await asFound(claims);
      if (!looks.goOn(claims)) return result;
      await options.onLook?.(result);
      runs = await looks.runs();
    }
  } finally {
    await finished.close();
  }
}

/** What the control of the recipe's calibration came to; null where there is none. */
function calibrated(recipe: RecipeFile, runsOf: RunsOf): CalibrationResult | null {
  const { calibration } = recipe.claims;
  const control = experiments(recipe).find(({ id }) => id === CALIBRATION);
  if (calibration === undefined || control === undefined) return null;
  const { metric, start, end } = calibration;
  const measured = (when: "before" | "after") =>
    runsOf(control, "control", `eval.${when}.${metric}`);
  const values = (when: "before" | "after") => measured(when).map(({ value }) => value);
  return calibrationOf({
    metric,
    seeds: measured("after").map(({ seed }) => seed),
    start: { range: start, values: values("before") },
    end: { range: end, values: values("after") },
  });
}

/** @throws {ConfigError} RECIPE_BAD_VALUE for a metric that an arm's run cannot have. */
function checkMetrics(recipe: RecipeFile, runs: readonly ArmRun[]): void {
  for (const { arms, settings } of runs) {
    for (const claim of experiments(recipe)) {
      for (const { name: arm } of claim.arms.filter(({ name }) =>
        arms.includes(`${claim.id}/${name}`),
      ))
        checkClaimMetrics(recipe, { claim, arm }, settings.settings);
    }
  }
}

/** The looks of a reproduction: how many seeds each claim has, and the runs that they take. */
function openLooks(source: ArmSource, plan: SeedPlan) {
  const all = experiments(source.recipe);
  const [first = 0] = plan.looks;
  const counts = new Map(all.map(({ id }) => [id, first]));
  const seedsOf = (id: string): number => counts.get(id) ?? 0;
  return {
    seedsOf,
    /** The level of the look that a claim has come to. */
    levelOf: (id: string): number => plan.levels[plan.looks.indexOf(seedsOf(id))] ?? 0,
    runs: () => armRuns(source, seedsOf),
    /** Gives the undecided claims the seeds of their next look. @returns false: there is none. */
    goOn(claims: readonly ClaimResult[]): boolean {
      let goes = false;
      for (const { id } of claims.filter(isUndecided)) {
        const seeds = plan.looks[plan.looks.indexOf(seedsOf(id)) + 1];
        if (seeds === undefined) continue;
        counts.set(id, seeds);
        goes = true;
      }
      return goes;
    },
  };
}

/** A positive control that is not found goes on as well: before its last look the miniature is not said to be unable. */
function isUndecided({ role, verdict }: ClaimResult): boolean {
  return verdict === "undecided" || (role === "positive-control" && verdict !== "supported");
}

/** Runs what no result is known of. @param told keys that `onArm` was called for. */
async function runMissing(
  runs: readonly ArmRun[],
  options: ReproduceOptions & { finished: FinishedArms; measures: Measures; told: Set<string> },
): Promise<void> {
  const { out, signal, run, sideBySide, onArm, finished, measures, told } = options;
  const total = runs.length;
  async function* missing() {
    for (const [i, each] of runs.entries()) {
      if (told.has(each.key)) continue;
      told.add(each.key);
      const found = measures.knows(each) ? "results" : await finished.find(each);
      onArm?.({ run: each, number: i + 1, total, found });
      if (found === null) yield each;
      else if (found !== "results") await measures.take(each);
    }
  }
  const halt = new AbortController();
  const stop = (): void => {
    halt.abort(signal.reason);
  };
  signal.addEventListener("abort", stop);
  const queue = missing();
  const failures: unknown[] = [];
  const evaluated = new Map<string, string>();
  // Each takes the next run when its last has ended: runs are of unlike length.
  const lane = async (): Promise<void> => {
    try {
      for await (const each of queue) {
        halt.signal.throwIfAborted();
        const folder = armFolder(out, each);
        const opening = openingOf(each);
        const evaluatedIn = evaluated.get(opening);
        const result = await run(each, { folder, signal: halt.signal, evaluatedIn });
        evaluated.set(opening, folder);
        await finished.add(each, result);
        await measures.take(each);
      }
    } catch (error) {
      failures.push(error);
      halt.abort(error);
    }
  };
  try {
    signal.throwIfAborted();
    await Promise.all(Array.from({ length: sideBySide }, lane));
  } finally {
    signal.removeEventListener("abort", stop);
  }
  if (failures.length > 0) throw failures[0];
}

/**
 * Hash of all that an evaluation before training depends on: every setting but how the policy is trained, for that begins after it. With stages
 * a policy may be trained before it, so nothing is left out.
 */
function openingOf({ settings: { settings } }: ArmRun): string {
  if (settings.stages !== undefined) return shortHash(settings);
  return shortHash({ ...settings, algorithm: undefined });
}

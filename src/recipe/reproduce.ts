import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../base/errors.ts";
import { writeFileAtomic, writeJson } from "../base/files.ts";
import { type JsonlWriter, openJsonl, readJsonl } from "../base/jsonl.ts";
import { leavesOf } from "../base/leaves.ts";
import { suggest } from "../base/nearest.ts";
import { pluginHashes } from "../base/plugins.ts";
import type { ClaimResult, Reproduction } from "../evaluate/claims/claim-results.ts";
import { isPromising, type SeedPlan } from "../evaluate/claims/looks.ts";
import { shortHash } from "../evaluate/fingerprint.ts";
import type { ArmQuestions } from "./arm-questions.ts";
import { judgeClaims, type MeasuredRun } from "./judge-claims.ts";
import type { RecipeFile, Tier } from "./settings/recipe-schema.ts";
import { type Settings, settingsSchema } from "./settings/settings-schema.ts";
import {
  armOverrides,
  checkSettings,
  type Override,
  type ResolvedSettings,
  resolveSettings,
  seedOf,
} from "./settings/settings.ts";

/** One training run of a reproduction. */
export interface ArmRun {
  /** Hash of the settings, the seed and the version: equal keys, equal result. */
  key: string;
  seed: number;
  /** `claim/arm` of every arm that these settings are. */
  arms: string[];
  settings: ResolvedSettings<Settings>;
}

export interface ReproduceOptions {
  tier: Tier;
  /** Each arm runs once per seed; an open claim goes on to the next look. */
  plan: SeedPlan;
  /** Settings on top of every arm. */
  overrides?: readonly Override[];
  /** Version of the code, which a kept result must share. */
  version: string;
  /** Folder for `runs.jsonl` and `results.json`; results that it holds are taken over. */
  out: string;
  signal: AbortSignal;
  /** Trains and measures; what it gives is a record whose numbers claims name by dotted paths: `eval.after.em`. */
  run: (run: ArmRun) => Promise<unknown>;
  /** The metric by held-out question, which the intervals need; null where the run does not have it. */
  questionsOf: (run: ArmRun, metric: string) => Promise<ArmQuestions | null>;
  /** Called before each run, and once for each that is taken over (`kept`). */
  onArm?: (arm: { run: ArmRun; number: number; total: number; kept: boolean }) => void;
}

const RUNS_FILE = "runs.jsonl";
const RESULTS_FILE = "results.json";

/**
 * Runs every arm of every claim over seeds and says what the results mean for each claim. After each look only the arms of claims that
 * further seeds may answer run again; a claim keeps the seeds that it was decided on. Arms of equal settings run once, seeds are gone
 * through one after the other (so that an interrupted reproduction has something of every arm), and each result is appended as it comes: the
 * same command continues after an interruption.
 *
 * @throws {ConfigError} RECIPE_BAD_VALUE when the recipe has no claims, or a claim's metric is no number of the results; as
 *   `checkSettings` for any arm, before the first run.
 */
export async function reproduce(
  recipe: RecipeFile,
  options: ReproduceOptions,
): Promise<Reproduction> {
  const { tier, plan, out } = options;
  const { log, results } = await openRunLog(join(out, RUNS_FILE));
  const looks = openLooks(recipe, options);
  const told = new Set<string>();
  let claims: ClaimResult[] = [];
  try {
    while (looks.next(claims)) {
      await runMissing(recipe, looks.runs(), { ...options, log, results, told });
      const measured = await measuredRuns(recipe, looks.runs(), results, options);
      claims = judgeClaims(recipe, { tier, level: plan.level }, ({ id }, arm) =>
        (measured.get(`${id}/${arm}`) ?? []).slice(0, looks.seedsOf(id)),
      );
    }
  } finally {
    await log.close();
  }
  const { name, summary, paper = null, notes } = recipe;
  const seeds = plan.seeds.slice(0, Math.max(...claims.map(({ id }) => looks.seedsOf(id))));
  const { looks: counts, level } = plan;
  const about = { recipe: name, summary, paper, notes, tier, seeds, looks: [...counts], level };
  const reproduction = { ...about, claims };
  await writeJson(join(out, RESULTS_FILE), reproduction);
  return reproduction;
}

/** The looks of a reproduction: how many seeds each claim has, and the runs that they take. */
function openLooks(recipe: RecipeFile, options: ReproduceOptions) {
  const { plan } = options;
  const counts = new Map<string, number>();
  let taken = 0;
  return {
    /** Moves on to the next look at the claims that are open after the last one. @returns false: there is nothing left to run. */
    next(claims: readonly ClaimResult[]): boolean {
      const seeds = plan.looks[taken];
      const open = recipe.claims.tests.filter(
        ({ id }, i) => taken === 0 || isOpen(claims[i], counts.get(id), plan),
      );
      if (seeds === undefined || (taken > 0 && open.length === 0)) return false;
      for (const { id } of open) counts.set(id, seeds);
      taken++;
      return true;
    },
    seedsOf: (id: string): number => counts.get(id) ?? 0,
    runs: (): ArmRun[] => armRuns(recipe, options, counts),
  };
}

/** Whether further seeds may answer a claim. One comparison without hope decides that it cannot be supported. */
function isOpen(claim: ClaimResult | undefined, seeds = 0, plan: SeedPlan): boolean {
  if (claim?.verdict !== "inconclusive") return false;
  const open = claim.comparisons.filter(({ verdict }) => verdict === "inconclusive");
  return open.every((each) => isPromising({ ...each, seeds }, plan));
}

/** Runs what no result is known of. */
async function runMissing(
  recipe: RecipeFile,
  runs: readonly ArmRun[],
  {
    log,
    results,
    signal,
    run,
    onArm,
    told,
  }: ReproduceOptions & { log: JsonlWriter; results: Map<string, unknown>; told: Set<string> },
): Promise<void> {
  for (const [i, each] of runs.entries()) {
    const known = results.get(each.key);
    if (told.has(each.key)) continue;
    told.add(each.key);
    onArm?.({ run: each, number: i + 1, total: runs.length, kept: known !== undefined });
    if (known === undefined) {
      signal.throwIfAborted();
      const result = await run(each);
      results.set(each.key, result);
      await log.append({ key: each.key, seed: each.seed, arms: each.arms, result });
    }
    checkMetrics(recipe, each, results.get(each.key));
  }
}

/** Every distinct run, seed by seed. @param counts seeds of each claim. */
function armRuns(
  recipe: RecipeFile,
  { tier, plan, overrides = [], version }: ReproduceOptions,
  counts: ReadonlyMap<string, number>,
): ArmRun[] {
  if (recipe.claims.tests.length === 0) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${recipe.path}: has no claims, so there is nothing to reproduce; see \`agentrl recipes list --json\` for recipes that have.`,
    );
  }
  const runs = new Map<string, ArmRun>();
  for (const [s, seed] of plan.seeds.entries()) {
    for (const claim of recipe.claims.tests.filter(({ id }) => s < (counts.get(id) ?? 0))) {
      for (const arm of claim.arms) {
        const own = [...armOverrides(recipe, { tier, claim, arm }), ...overrides];
        const all = [...own, { key: "seed", value: seedOf(arm, seed), origin: "--seeds" }];
        const resolved = resolveSettings(recipe, { tier, overrides: all });
        const settings = checkSettings(settingsSchema, resolved);
        const key = shortHash({
          ...{ settings: settings.settings, version },
          ...pluginHashes(settings.settings),
        });
        const run = runs.get(key) ?? { key, seed, arms: [], settings };
        run.arms.push(`${claim.id}/${arm.name}`);
        runs.set(key, run);
      }
    }
  }
  return [...runs.values()];
}

/** Runs by `claim/arm`, in the order of the seeds. */
async function measuredRuns(
  recipe: RecipeFile,
  runs: readonly ArmRun[],
  results: ReadonlyMap<string, unknown>,
  { questionsOf }: ReproduceOptions,
): Promise<Map<string, MeasuredRun[]>> {
  const byArm = new Map<string, MeasuredRun[]>();
  for (const { id, metric, arms } of recipe.claims.tests) {
    for (const { name } of arms) {
      const own = runs.filter((run) => run.arms.includes(`${id}/${name}`));
      const measured: MeasuredRun[] = [];
      for (const run of own) {
        const { key, seed, settings } = run;
        const { evaluation, policy } = settings.settings;
        measured.push({
          ...{ key, seed, dataset: evaluation.dataset.name, model: policy.from },
          value: numberAt(results.get(key), metric) ?? Number.NaN,
          questions: await questionsOf(run, metric),
        });
      }
      byArm.set(`${id}/${name}`, measured);
    }
  }
  return byArm;
}

/** A metric that the results do not have is found at the first run, not after all of them. */
function checkMetrics(recipe: RecipeFile, { arms }: ArmRun, result: unknown): void {
  for (const [c, { id, metric }] of recipe.claims.tests.entries()) {
    if (!arms.some((arm) => arm.startsWith(`${id}/`)) || numberAt(result, metric) !== null)
      continue;
    const numbers = [...leavesOf(result)].filter(([, value]) => typeof value === "number");
    const known = numbers.map(([keys]) => keys.join("."));
    const at = ["claims", "tests", String(c), "metric"];
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${recipe.place(at)}: ${at.join(".")} is "${metric}", which is no number of a run's results. ${suggest(metric, known)}`,
    );
  }
}

function numberAt(result: unknown, path: string): number | null {
  const leaf = [...leavesOf(result)].find(([keys]) => keys.join(".") === path);
  return typeof leaf?.[1] === "number" && Number.isFinite(leaf[1]) ? leaf[1] : null;
}

/** A line of `runs.jsonl`. */
interface LoggedRun {
  key: string;
  seed: number;
  arms: string[];
  result: unknown;
}

/** Opens the log for appending, and reads what it holds: a line that an interruption left half-written goes. */
async function openRunLog(
  path: string,
): Promise<{ log: JsonlWriter; results: Map<string, unknown> }> {
  const runs: LoggedRun[] = [];
  if (existsSync(path)) {
    for await (const { value } of readJsonl(path, { tolerateCutEnd: true })) {
      runs.push(value as LoggedRun);
    }
  }
  const lines = runs.map((run) => `${JSON.stringify(run)}\n`).join("");
  await writeFileAtomic(path, lines);
  const results = new Map(runs.map(({ key, result }) => [key, result]));
  return { log: await openJsonl(path), results };
}

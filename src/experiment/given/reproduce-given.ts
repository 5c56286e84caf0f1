import { mean } from "../../base/statistics.ts";
import { plural } from "../../base/format.ts";
import { claimsAt } from "../../run/claims.ts";
import type { Claim, RecipeFile, Tier } from "../../run/settings/recipe-schema.ts";
import type { Settings } from "../../run/settings/settings-schema.ts";
import type { ArmResult, ClaimResult, Reproduction } from "../claims/claim-results.ts";
import { SHARE_PRIOR, type Verdict } from "../claims/claim-test.ts";
import { type MeasuredRun, packMeasures } from "../claims/kept-measures.ts";
import { fixedSeeds } from "../claims/looks.ts";
import type { RunOrigin } from "../claims/run-origin.ts";
import { judgedByInstrument } from "../claims/instrument.ts";
import { baseDifferences, claimHead, claimsHash, recipeHead } from "../claim-settings.ts";
import { claimMeasures, judgeClaims } from "../judge-claims.ts";
import { type GivenArm, givenArms } from "./given-arms.ts";
import type { GivenEntry } from "./given-file.ts";
import { type GivenRun, givenRuns, type SetReader } from "./given-runs.ts";

/** What is given, and by which command. */
export interface GivenResults {
  entries: readonly GivenEntry[];
  readSets: SetReader;
  made: Omit<RunOrigin, "machine" | "given">;
}

/** Runs of a claim by arm and metric. */
type Measured = ReadonlyMap<string, readonly MeasuredRun[]>;

/**
 * Judges a recipe's claims on runs that were trained elsewhere; nothing is trained. The statistics are those of every reproduction, with one
 * look at the seeds that all arms of a claim have. A claim without an arm is "not given", one whose metric lacks a set is "missing"; both are
 * outside the correction over claims.
 * @throws {ConfigError} as `givenRuns`.
 */
export async function reproduceGiven(
  file: RecipeFile,
  tier: Tier,
  { entries, readSets, made }: GivenResults,
): Promise<Reproduction> {
  const recipe = claimsAt(file, tier);
  const arms = await givenArms(recipe, tier);
  const runs = await givenRuns(recipe, { entries, arms, readSets });
  const measures = new Map<string, Record<string, MeasuredRun>>();
  const found = new Map<string, { lacks: string[]; verdict: Verdict; measured: Measured }>();
  for (const claim of recipe.claims.tests)
    found.set(claim.id, await measuredClaim(claim, runs, measures));
  const isWhole = ({ id }: Claim): boolean => found.get(id)?.lacks.length === 0;
  const whole = recipe.claims.tests.filter(isWhole);
  const most = Math.max(0, ...whole.map((claim) => seedsOf(found.get(claim.id)?.measured).length));
  const plan = fixedSeeds([...new Set(runs.map(({ seed }) => seed))]);
  const [level = 0] = plan.levels;
  const settingsOf = ({ id }: Claim, arm: string): Settings => armOf(arms, `${id}/${arm}`).settings;
  const judged = judgeClaims(
    { ...recipe, claims: { ...recipe.claims, tests: whole } },
    { tier, levelOf: () => level },
    (claim, arm, metric) => found.get(claim.id)?.measured.get(`${arm} ${metric}`) ?? [],
    settingsOf,
  );
  const results = new Map(judgedByInstrument(judged, null, level).map((each) => [each.id, each]));
  const packed = packMeasures(measures);
  return {
    ...recipeHead(recipe),
    tier,
    seeds: [...plan.seeds],
    looks: [most],
    levels: [...plan.levels],
    prior: SHARE_PRIOR,
    calibration: null,
    claims: recipe.claims.tests.map((claim) => {
      const { lacks = [], verdict = "missing", measured = new Map() } = found.get(claim.id) ?? {};
      return results.get(claim.id) ?? unjudged(claim, { lacks, verdict, measured, level });
    }),
    base: await baseDifferences(recipe, tier),
    claimsHash: claimsHash(recipe, tier),
    runs: runs.map(({ key, seed, arm, evaluations }) => ({
      key,
      seed,
      arms: arm.ids,
      origin: { ...made, machine: {}, given: evaluations },
      measured: packed.measured[key] ?? {},
    })),
    questions: packed.questions,
  };
}

function armOf(arms: readonly GivenArm[], id: string): GivenArm {
  const found = arms.find(({ ids }) => ids.includes(id));
  if (found === undefined) throw new Error(`no arm ${id}`);
  return found;
}

/** What the runs say of a claim's arms, and what they lack. @param all gets every measure, by run and metric. */
async function measuredClaim(
  claim: Claim,
  runs: readonly GivenRun[],
  all: Map<string, Record<string, MeasuredRun>>,
): Promise<{ lacks: string[]; verdict: Verdict; measured: Measured }> {
  const ofArm = (arm: string) => runs.filter((run) => run.arm.ids.includes(`${claim.id}/${arm}`));
  const absent = claim.arms.map(({ name }) => name).filter((name) => ofArm(name).length === 0);
  const lacks = new Set<string>();
  const measured = new Map<string, MeasuredRun[]>();
  for (const { arm, metric } of claimMeasures(claim)) {
    const own: MeasuredRun[] = [];
    for (const run of ofArm(arm)) {
      const { key, seed, model } = run;
      const value = await run.valueOf(metric);
      if ("lacks" in value) {
        lacks.add(`${arm}, seed ${seed}: ${value.lacks}`);
        continue;
      }
      const one = { key, seed, model, isBound: false, ...value };
      own.push(one);
      const known = all.get(key) ?? {};
      all.set(key, { ...known, [metric]: one });
    }
    measured.set(`${arm} ${metric}`, own);
  }
  if (absent.length > 0)
    return { lacks: [`no results of ${absent.join(", ")}`], verdict: "not given", measured };
  if (lacks.size > 0) return { lacks: [...lacks], verdict: "missing", measured };
  const shared = seedsOf(measured);
  if (shared.length === 0)
    return { lacks: ["no seed that all of its arms have"], verdict: "missing", measured };
  // Arms are compared seed by seed.
  const paired = [...measured].map(
    ([name, own]) => [name, own.filter(({ seed }) => shared.includes(seed))] as const,
  );
  return { lacks: [], verdict: "undecided", measured: new Map(paired) };
}

/** The seeds that all arms have. */
function seedsOf(measured: Measured = new Map()): number[] {
  const [first = [], ...others] = [...measured.values()];
  const has = (runs: readonly MeasuredRun[], seed: number) => runs.some((run) => run.seed === seed);
  return first.map(({ seed }) => seed).filter((seed) => others.every((runs) => has(runs, seed)));
}

/** A claim that the given results do not decide, with the arms that they have. */
function unjudged(
  claim: Claim,
  { lacks, verdict, measured, level }: { lacks: string[]; verdict: Verdict; measured: Measured; level: number }, // prettier-ignore
): ClaimResult {
  const most = 4;
  const more = lacks.length > most ? [`and ${plural(lacks.length - most, "other")}`] : [];
  return {
    ...claimHead(claim),
    kind: "method",
    effect: null,
    unequal: [],
    level,
    verdict,
    instrument: [...lacks.slice(0, most), ...more].join("; "),
    questions: null,
    isShare: true,
    comparisons: [],
    arms: claim.arms.flatMap(({ name }): ArmResult[] => {
      const runs = measured.get(`${name} ${claim.metric}`) ?? [];
      const values = runs.map(({ value }) => value);
      const [first] = runs;
      if (first === undefined) return [];
      return [
        {
          name,
          mean: mean(values),
          ci95: null,
          values,
          seeds: runs.map(({ seed }) => seed),
          bounds: 0,
          isSameForAllSeeds: false,
          dataset: first.dataset,
          model: first.model,
          paper: null,
        },
      ];
    }),
  };
}

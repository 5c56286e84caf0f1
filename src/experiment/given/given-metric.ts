import { ConfigError } from "../../base/errors.ts";
import { suggest } from "../../base/nearest.ts";
import { mean } from "../../base/statistics.ts";
import type { MeasuredSet } from "../paper-table/measured-set.ts";
import type { ArmQuestions } from "../arm-questions.ts";

/** The evaluations of one run, by the recipe's sets; "" is the run's own evaluation. */
export interface GivenSets {
  /** Dataset of every set that the arm measures. */
  expected: ReadonlyMap<string, string>;
  measured: ReadonlyMap<string, MeasuredSet>;
}

/** What given evaluations say of a claim's metric. */
export type GivenValue =
  | { value: number; dataset: string; draws: number; questions: ArmQuestions | null }
  /** Why there is none, without a subject: "needs musique:dev". */
  | { lacks: string };

/**
 * @param questionsOf the values by question of a set's metric.
 * @throws {ConfigError} COMPARE_METRIC when an evaluation does not have the metric.
 */
export async function givenValue(
  metric: string,
  { expected, measured }: GivenSets,
  questionsOf: (folder: string, name: string) => Promise<ArmQuestions | null>,
): Promise<GivenValue> {
  const [, average, set = "", name = ""] =
    /^eval\.(?:(average)|(?:sets\.([^.]+)\.)?after)\.([^.]+)$/.exec(metric) ?? [];
  if (name === "") return { lacks: `${metric} is of a training, and given runs have none` };
  const wanted = average === undefined ? [set] : [...expected.keys()];
  const missing = wanted.filter((each) => !measured.has(each));
  if (missing.length > 0)
    return {
      lacks: `${metric} needs ${missing.map((each) => expected.get(each) ?? `the set ${each}`).join(", ")}`,
    };
  const sets = wanted.flatMap((each) => measured.get(each) ?? []);
  const values = sets.map((each) => numberIn(each, name));
  const draws = Math.min(...sets.map(({ samples }) => samples));
  const [first] = sets;
  // Each set has the same weight in an average, so that its questions have not: it is tested over seeds.
  if (average !== undefined || first === undefined)
    return { value: mean(values), dataset: "average", draws, questions: null };
  const { dataset, folder } = first;
  return { value: mean(values), dataset, draws, questions: await questionsOf(folder, name) };
}

function numberIn({ folder, metrics }: MeasuredSet, name: string): number {
  const value = metrics[name];
  if (typeof value === "number") return value;
  const known = Object.keys(metrics).filter((each) => typeof metrics[each] === "number");
  throw new ConfigError(
    "COMPARE_METRIC",
    `${folder}: has no metric ${name}, which a claim compares. ${suggest(name, known)} Evaluate again with the recipe and tier of the claims.`,
  );
}

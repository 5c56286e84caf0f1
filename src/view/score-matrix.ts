import { distinctNames } from "../base/distinct-names.ts";
import { mean } from "../base/statistics.ts";
import { policyLabel } from "../evaluate/policy-label.ts";
import type { Interval } from "../evaluate/statistics.ts";
import type { Results } from "./results-schema.ts";

/** Scores that a matrix shows. */
export const MATRIX_METRICS = ["em", "f1"] as const;

type Scores = Record<(typeof MATRIX_METRICS)[number], number | null>;

/** What a matrix needs of a result. */
export interface MatrixResult extends Pick<Results, "n" | "dataset" | "strategy"> {
  policy: { from?: string | undefined; model?: string | undefined };
  metrics: Readonly<Record<string, number | null>>;
  intervals: Readonly<Record<string, Interval | null>>;
}

/** Row and column of a result. */
export interface MatrixPlace {
  /** The policy's label, with its strategy where strategies differ. */
  policy: string;
  /** The dataset's name, as short as is unique. */
  dataset: string;
}

/** A policy on several datasets. */
export interface MatrixRow {
  policy: string;
  /** By the dataset's name; a dataset on which the policy was not measured is absent. */
  datasets: Record<string, Scores & { n: number; emInterval: Interval | null }>;
  /** Mean over datasets, each with the same weight, as Search-R1 averages its seven; null unless all of them were measured. */
  average: Scores;
}

/** The place of each result; null when two results would have the same place, as two checkpoints of one name. */
export function matrixPlaces(results: readonly MatrixResult[]): MatrixPlace[] | null {
  const datasets = [...new Set(results.map(({ dataset }) => dataset))];
  const names = distinctNames(datasets);
  const policies = policyNames(results.map(({ policy }) => policyLabel(policy)));
  const hasStrategies = new Set(results.map(({ strategy }) => strategy)).size > 1;
  const places = results.map(({ dataset, strategy }, i): MatrixPlace => ({
    policy: `${policies[i] ?? ""}${hasStrategies ? `, ${strategy}` : ""}`,
    dataset: names[datasets.indexOf(dataset)] ?? dataset,
  }));
  const keys = new Set(places.map((place) => JSON.stringify(place)));
  return keys.size === places.length ? places : null;
}

/** Labels of policies; of paths the last parts, as many as needed to be unique, without those that all share. */
function policyNames(labels: readonly string[]): string[] {
  const distinct = [...new Set(labels)];
  // One slash is org/name of the hub.
  const isPath = (label: string): boolean =>
    /^[./~]|^[A-Za-z]:\\|[^:/]+\/[^/]+\/./.test(label) && !label.includes("://");
  const paths = distinct.filter(isPath);
  const short = withoutSharedEnd(distinctNames(paths));
  return labels.map((label) => short[paths.indexOf(label)] ?? label);
}

/** @example withoutSharedEnd(["a/checkpoints/step-4", "b/checkpoints/step-4"]) // ["a", "b"] */
function withoutSharedEnd(names: readonly string[]): string[] {
  const parts = names.map((name) => name.split("/"));
  const [first] = parts;
  if (first === undefined || names.length < 2) return [...names];
  let shared = 0;
  while (
    parts.every((own) => own.length > shared + 1 && own.at(-1 - shared) === first.at(-1 - shared))
  )
    shared += 1;
  return parts.map((own) => own.slice(0, own.length - shared).join("/"));
}

/** Datasets of the places, in order of first appearance. */
export function datasetsOf(places: readonly MatrixPlace[]): string[] {
  return [...new Set(places.map(({ dataset }) => dataset))];
}

/** Results of several policies on several datasets, a row per policy. */
export function matrixOf(
  results: readonly MatrixResult[],
  places: readonly MatrixPlace[],
): MatrixRow[] {
  const names = datasetsOf(places);
  return [...new Set(places.map(({ policy }) => policy))].map((policy) => {
    const measured = results.flatMap((result, i) => {
      const place = places[i];
      return place?.policy === policy ? [[place.dataset, cellOf(result)] as const] : [];
    });
    const datasets = Object.fromEntries(measured);
    const average = (metric: keyof Scores): number | null => {
      const scores = names.map((name) => datasets[name]?.[metric] ?? null);
      return scores.includes(null) ? null : mean(scores.filter((score) => score !== null));
    };
    return { policy, datasets, average: { em: average("em"), f1: average("f1") } };
  });
}

function cellOf({ n, metrics, intervals }: MatrixResult): MatrixRow["datasets"][string] {
  const [em, f1] = [metrics["em"] ?? null, metrics["f1"] ?? null];
  return { n, em, f1, emInterval: intervals["em"] ?? null };
}

/** Under every matrix. */
export const AVERAGE_NOTE = "average: mean over datasets, each with the same weight";

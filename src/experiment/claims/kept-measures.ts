import { gunzipSync, gzipSync } from "node:zlib";
import type { ArmQuestions } from "../arm-questions.ts";

/** One run of an arm, as measured. */
export interface MeasuredRun {
  /** Equal keys: the same run. */
  key: string;
  seed: number;
  value: number;
  /** Draws of each question that the value is a mean of. */
  draws: number;
  /** The run ended before it happened: the true value is larger. */
  isBound: boolean;
  questions: ArmQuestions | null;
  /** What was measured: names of the held-out dataset and of the policy. */
  dataset: string;
  model: string;
}

/** A metric of a run as results keep it; its values by question stand in `questions`. */
export type KeptMeasure = Omit<MeasuredRun, "key" | "seed" | "questions"> & {
  /** Hash of every answer, search and score; null where the metric has no questions. */
  outcome: string | null;
};

/** Measures of runs, by run and metric. */
export type MeasuresByRun = ReadonlyMap<string, Readonly<Record<string, MeasuredRun>>>;

/** Measures as JSON. */
export interface PackedMeasures {
  measured: Record<string, Record<string, KeptMeasure>>;
  /** Base64 of gzip of JSON: `{ ids: [[id, …], …], runs: { key: { metric: { ids: position, values: […] } } } }`. */
  questions: string;
}

interface Unpacked {
  ids: string[][];
  runs: Record<string, Record<string, { ids: number; values: number[] }>>;
}

/** Packs measures with their values by question, so that every figure can be computed again from the results alone. */
export function packMeasures(runs: MeasuresByRun): PackedMeasures {
  const ids: string[][] = [];
  const places = new Map<string, number>();
  const placeOf = (list: string[]): number => {
    const text = JSON.stringify(list);
    const known = places.get(text);
    if (known !== undefined) return known;
    places.set(text, ids.length);
    return ids.push(list) - 1;
  };
  const packed: Unpacked["runs"] = {};
  const measured: PackedMeasures["measured"] = {};
  for (const [key, metrics] of runs) {
    const own: Record<string, KeptMeasure> = (measured[key] = {});
    const byQuestion: Unpacked["runs"][string] = (packed[key] = {});
    for (const [metric, { key: _, seed: __, questions, ...rest }] of Object.entries(metrics)) {
      own[metric] = { ...rest, outcome: questions?.outcome ?? null };
      if (questions === null) continue;
      const list = placeOf([...questions.values.keys()]);
      byQuestion[metric] = { ids: list, values: [...questions.values.values()] };
    }
  }
  const text = JSON.stringify({ ids, runs: packed } satisfies Unpacked);
  return { measured, questions: gzipSync(text, { level: 9 }).toString("base64") };
}

/** @param seedOf a run. */
export function unpackMeasures(
  { measured, questions }: PackedMeasures,
  seedOf: (key: string) => number,
): MeasuresByRun {
  const text = gunzipSync(Buffer.from(questions, "base64")).toString("utf8");
  const { ids, runs } = JSON.parse(text) as Unpacked;
  const entries = Object.entries(measured).map(([key, metrics]) => {
    const own = Object.entries(metrics).map(([metric, { outcome, ...rest }]) => {
      const values = runs[key]?.[metric];
      const names = values === undefined ? [] : (ids[values.ids] ?? []);
      const byQuestion =
        values === undefined || outcome === null
          ? null
          : {
              values: new Map(names.map((id, i) => [id, values.values[i] ?? Number.NaN])),
              outcome,
            };
      return [metric, { ...rest, key, seed: seedOf(key), questions: byQuestion }] as const;
    });
    return [key, Object.fromEntries(own)] as const;
  });
  return new Map(entries);
}

import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DataError } from "../../base/errors.ts";
import { numberId, plainNumber } from "../../base/exact-json.ts";
import { readJson } from "../../base/files.ts";
import { plural } from "../../base/format.ts";
import { readJsonl } from "../../base/jsonl.ts";
import { quote, z } from "../../base/schema.ts";
import { evaluationsIn } from "../../evaluate/evaluation-folders.ts";
import type { EvaluationRow } from "../../evaluate/evaluation-row.ts";
import { answerScores } from "../../evaluate/metrics/answer-metrics.ts";
import { rowMetrics } from "../../evaluate/metrics/index.ts";
import { policyLabel } from "../../evaluate/policy-label.ts";
import { type PredictionSource, readPredictionsById } from "../../evaluate/predictions.ts";
import type { ComparedQuestion, ComparedRun, MeasuredDraw, RunFacts } from "./compared-run.ts";

/** Fields of a predictions file with answers and references. */
export type PredictionFields = Omit<PredictionSource, "predictions">;

/**
 * Reads an output of `agentrl eval --out` (the folder, or its rows.jsonl), a training run (its evaluation after training), or a predictions
 * file, whose answers are scored by every answer metric.
 *
 * @param fields for predictions; with `references` every file counts as a predictions file.
 * @throws {DataError} FILE_MISSING; JSONL_BAD_LINE; COMPARE_ROW when a row has no id, or the same id and sample as another; and as
 * `readPredictions`.
 */
export async function readComparedRun(
  path: string,
  fields: PredictionFields = {},
): Promise<ComparedRun> {
  const rows = rowsFile(path);
  if (fields.references !== undefined || !(await holdsRows(rows)))
    return readPredictionRun(path, { predictions: rows, ...fields });
  const results = await resultsBeside(rows);
  const metrics = new Set<string>();
  const questions = new Map<string, Gathered>();
  for await (const { value, line } of readJsonl(rows, { exact: true, tolerateCutEnd: true })) {
    gather(questions, checkedRow(value, `${rows}:${line}`), `${rows}:${line}`);
  }
  for (const { draws } of questions.values())
    for (const { values } of draws) for (const name of Object.keys(values)) metrics.add(name);
  return { name: path, questions, metrics: [...metrics], ...results };
}

/** The file of rows for a name. */
function rowsFile(path: string): string {
  if (!existsSync(path)) {
    throw new DataError("FILE_MISSING", `${path}: there is no such file or folder.`);
  }
  if (!statSync(path).isDirectory()) return path;
  const found = ["rows.jsonl", join("eval", "after.rows.jsonl")]
    .map((name) => join(path, name))
    .find((file) => existsSync(file));
  if (found !== undefined) return found;
  const { finished } = evaluationsIn(path);
  if (finished.length > 0)
    throw new DataError(
      "FILE_MISSING",
      `${path}: has no rows.jsonl itself and holds ${plural(finished.length, "evaluation")}: ${finished.join(", ")}. Name one of them; \`agentrl eval table ${path} --paper RECIPE\` puts all of them into a paper's table.`,
    );
  throw new DataError(
    "FILE_MISSING",
    `${path}: has neither rows.jsonl (from agentrl eval --out) nor eval/after.rows.jsonl (from agentrl train). Give such a folder, or a file of rows or predictions.`,
  );
}

/** Whether a file's first record is a row: it has an id and something measured. */
async function holdsRows(path: string): Promise<boolean> {
  if (path.endsWith(".json")) return false;
  for await (const { value } of readJsonl(path, { exact: true, tolerateCutEnd: true })) {
    const row = rowSchema.safeParse(value);
    return row.success && (row.data.error != null || "em" in row.data || "metrics" in row.data);
  }
  return false;
}

const rowSchema = z.looseObject({
  id: z.preprocess((id) => numberId(id) ?? id, z.string()),
  sample: z.preprocess(plainNumber, z.int().default(0)),
  question: z.string().optional(),
  references: z.array(z.string()).optional(),
  answer: z.string().nullish(),
  hops: z.preprocess(plainNumber, z.number().nullish()),
  type: z.string().nullish(),
  error: z.unknown().optional(),
});

type Row = z.output<typeof rowSchema>;

interface Gathered extends ComparedQuestion {
  draws: MeasuredDraw[];
  samples: Set<number>;
}

function checkedRow(value: unknown, where: string): Row {
  const row = rowSchema.safeParse(value);
  if (row.success) return row.data;
  const [issue] = row.error.issues;
  const key = issue?.path.join(".") ?? "";
  const found = (value as Record<string, unknown> | null)?.[key];
  throw new DataError(
    "COMPARE_ROW",
    `${where}: "${key}" is ${quote(found)} (${issue?.message ?? ""}). A row has an id, numbers measured, and may have sample, question, references, answer, hops, type, error.`,
  );
}

function gather(questions: Map<string, Gathered>, row: Row, where: string): void {
  const { id } = row;
  const { question = null, references = null, hops, type } = row;
  const known = questions.get(id) ?? {
    id,
    question,
    references,
    draws: [],
    errors: 0,
    samples: new Set<number>(),
    hops: hops === null ? undefined : `${hops}-hop`,
    type: type ?? undefined,
  };
  if (known.samples.has(row.sample)) {
    throw new DataError(
      "COMPARE_ROW",
      `${where}: question ${JSON.stringify(id)}, sample ${row.sample}, occurs a second time here; each may occur once. Delete one of the two.`,
    );
  }
  known.samples.add(row.sample);
  questions.set(id, known);
  if (row.error == null) known.draws.push({ answer: row.answer ?? null, values: measured(row) });
  else known.errors += 1;
}

/** Numeric fields that are no metrics, and fields that our own metrics read. */
const NOT_MEASURED = new Set(["id", "sample", "hops"]);
const READ_BY_METRICS = new Set(["turns", "invalidTurns", "formatOk", "tokens", "promptTokens"]);

/**
 * The metrics of a row, by their names in results.json: all row metrics for rows of agentrl; for any row its own numbers and booleans, and
 * those in its `metrics`.
 */
function measured(row: Row): Record<string, number> {
  const values: Record<string, number> = {};
  const take = (name: string, given: unknown): void => {
    const value = plainNumber(given);
    if (typeof value === "boolean") values[name] = Number(value);
    else if (typeof value === "number" && Number.isFinite(value)) values[name] = value;
  };
  const isOurs = Array.isArray(row["queries"]) && typeof row["end"] === "string";
  if (isOurs) {
    const own = row as unknown as EvaluationRow;
    for (const metric of rowMetrics.parts) take(metric.name, metric.of(own));
  }
  for (const [key, value] of Object.entries({ ...row, ...objectAt(row, "metrics") })) {
    if (!NOT_MEASURED.has(key) && !(isOurs && READ_BY_METRICS.has(key))) take(key, value);
  }
  return values;
}

function objectAt(row: Row, key: string): object {
  const value = row[key];
  return typeof value === "object" && value !== null ? value : {};
}

const resultsSchema = z.looseObject({
  fingerprint: z.string().optional(),
  protocol: z.record(z.string(), z.unknown()).optional(),
  policy: z.looseObject({ from: z.string().optional(), model: z.string().optional() }).optional(),
  dataset: z.string().optional(),
  strategy: z.string().optional(),
  seed: z.number().optional(),
  readsGold: z.boolean().optional(),
});

/** The results beside rows: results.json, or `after.json` beside `after.rows.jsonl`. */
async function resultsBeside(
  rows: string,
): Promise<Pick<ComparedRun, "fingerprint" | "protocol" | "facts">> {
  const file = [join(dirname(rows), "results.json"), rows.replace(/\.rows\.jsonl$/, ".json")].find(
    (each) => each !== rows && existsSync(each),
  );
  const results = resultsSchema.safeParse(file === undefined ? {} : await readJson(file));
  if (!results.success) {
    const where = results.error.issues[0]?.path.join(".") ?? "";
    throw new DataError(
      "COMPARE_ROW",
      `${file ?? ""}: "${where}" has a value that agentrl eval does not write. To compare without this file, copy the file of rows to another folder.`,
    );
  }
  const { fingerprint = null, protocol = null, policy } = results.data;
  const { dataset, strategy, seed, readsGold } = results.data;
  const facts: RunFacts = {
    policy: policy?.from === undefined ? undefined : policyLabel(policy),
    dataset,
    strategy,
    seed,
    readsGold,
  };
  return { fingerprint, protocol, facts };
}

/** Answers scored by every answer metric, normalised by "squad" unless the metric has its own normalisation. */
async function readPredictionRun(name: string, source: PredictionSource): Promise<ComparedRun> {
  const answers = await readPredictionsById(source);
  const metrics = new Set<string>();
  const questions = [...answers].map(([id, answer]): ComparedQuestion => {
    const { prediction, references } = answer;
    const scores = Object.entries(answerScores(answer)).flatMap(([metric, value]) =>
      value === null ? [] : [[metric, value] as const],
    );
    const values = { ...Object.fromEntries(scores), answer_rate: Number(prediction !== null) };
    for (const metric of Object.keys(values)) metrics.add(metric);
    const text = typeof prediction === "string" ? prediction : (prediction?.join(", ") ?? null);
    return { id, question: null, references, draws: [{ answer: text, values }], errors: 0 };
  });
  return {
    name,
    questions: new Map(questions.map((question) => [question.id, question])),
    metrics: [...metrics],
    fingerprint: null,
    protocol: null,
    facts: {},
  };
}

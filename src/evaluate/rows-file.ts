import { DataError } from "../base/errors.ts";
import { readJsonl } from "../base/jsonl.ts";
import { checkOptions, z } from "../base/schema.ts";
import type { EvaluationRow } from "./evaluation-row.ts";
import { type EvaluationSummary, openSummary } from "./evaluation-summary.ts";
import {
  type SearchNeed,
  searchNeed,
  type SearchNeedCase,
  type SearchNeedRow,
} from "./metrics/search-need.ts";

/** Rows that `agentrl eval --out` wrote, and of the same questions those of other runs of the same policy. */
export interface RowsSource {
  rows: string;
  /** Of a run that could not search (--strategy direct). */
  unaided?: string;
  /** Of a run that had to search (--strategy rag, or a prompt that demands it). */
  forced?: string;
}

/** Everything that rows say, and what they say beside other runs'. */
export interface RowsSummary extends EvaluationSummary {
  /** Present when another run was named. */
  searchNeed?: SearchNeed;
}

const share = z.number().min(0).max(1);
const whole = z.int().min(0);

// What figures are computed from; the rest is not looked at.
const rowSchema = z.object({
  id: z.string(),
  sample: whole,
  answer: z.string().nullable(),
  ...{ em: share, f1: share, precision: share, recall: share, cover_em: share },
  ...{ token_cover: share, drop_em: share, drop_f1: share },
  confidence: share.optional(),
  searches: whole,
  queries: z.array(z.string()),
  evidence: z.object({ gold: z.int().min(1), given: whole, seen: z.array(whole) }).optional(),
  turns: whole,
  invalidTurns: whole,
  end: z.string(),
  formatOk: z.boolean(),
  tokens: whole.optional(),
  promptTokens: whole.optional(),
  hops: z.number().optional(),
  type: z.string().optional(),
  error: z.object({ code: z.string() }).optional(),
});

/**
 * Sums up rows on disk again: the figures that the evaluation had, from rows alone.
 *
 * @param options.seed of the bootstrap.
 * @throws {DataError} FILE_MISSING, JSONL_BAD_LINE; PREDICTIONS_FIELD when a row lacks a number; PREDICTIONS_EMPTY without rows;
 *   PREDICTIONS_UNMATCHED when another run has none of the questions.
 */
export async function summarizeRowsFile(
  source: RowsSource,
  options: { seed: number },
): Promise<RowsSummary> {
  const summary = openSummary(options);
  const unaided = await readOther(source.unaided);
  const forced = await readOther(source.forced);
  const cases: SearchNeedCase[] = [];
  let found = false;
  for await (const row of readRows(source.rows)) {
    found = true;
    summary.add(row);
    if (row.error === undefined && (unaided ?? forced) !== undefined) {
      cases.push(caseOf(row, unaided, forced));
    }
  }
  if (!found) {
    throw new DataError(
      "PREDICTIONS_EMPTY",
      `${source.rows}: holds no rows; there is nothing to sum up.`,
    );
  }
  for (const [path, side] of [
    [source.unaided, "unaided"],
    [source.forced, "forced"],
  ] as const) {
    if (path === undefined || cases.some((each) => each[side] !== undefined)) continue;
    throw new DataError(
      "PREDICTIONS_UNMATCHED",
      `${path}: has none of the questions of ${source.rows}. Name rows of the same questions.`,
    );
  }
  const result = summary.summary();
  return cases.length === 0 ? result : { ...result, searchNeed: searchNeed(cases) };
}

/** A run's measured rows by question and draw. */
type OtherRun = ReadonlyMap<string, SearchNeedRow>;

function caseOf(
  row: EvaluationRow,
  unaided: OtherRun | undefined,
  forced: OtherRun | undefined,
): SearchNeedCase {
  const { answer, em, searches } = row;
  const without = unaided?.get(keyOf(row));
  const within = forced?.get(keyOf(row));
  return {
    free: { answer, em, searches },
    ...(without === undefined ? {} : { unaided: without }),
    ...(within === undefined ? {} : { forced: within }),
  };
}

async function readOther(path: string | undefined): Promise<OtherRun | undefined> {
  if (path === undefined) return undefined;
  const rows = new Map<string, SearchNeedRow>();
  for await (const row of readRows(path)) {
    const { answer, em, searches } = row;
    if (row.error === undefined) rows.set(keyOf(row), { answer, em, searches });
  }
  return rows;
}

function keyOf({ id, sample }: Pick<EvaluationRow, "id" | "sample">): string {
  return `${sample} ${id}`;
}

async function* readRows(path: string): AsyncGenerator<EvaluationRow> {
  for await (const { value, line } of readJsonl(path, { tolerateCutEnd: true })) {
    const checked = checkOptions(rowSchema, value);
    if (checked.problem === null) {
      yield checked.value as EvaluationRow;
      continue;
    }
    const { path: place, message } = checked.problem;
    throw new DataError(
      "PREDICTIONS_FIELD",
      `${[`${path}:${line}`, ...place].join(": ")} ${message} --rows takes rows.jsonl as agentrl eval --out writes it now; for other files use --predictions.`,
    );
  }
}

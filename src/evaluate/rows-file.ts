import { DataError } from "../base/errors.ts";
import { readJsonl } from "../base/jsonl.ts";
import { checkOptions, z } from "../base/schema.ts";
import { normalizeAnswer } from "../text/answer-normalizations.ts";
import type { EvaluationRow } from "./evaluation-row.ts";
import { type EvaluationSummary, openSummary } from "./evaluation-summary.ts";

/** Rows of `agentrl eval --out`, and rows of other runs of the same policy on the same questions. */
export interface RowsSource {
  rows: string;
  /** From a run that could not search (--strategy direct). */
  unaided?: string;
  /** From a run that had to search (--strategy rag, or a prompt that demands it). */
  forced?: string;
}

/** The summary of rows, and the comparison with other runs. */
export interface RowsSummary extends EvaluationSummary {
  /** Present if another run was given. */
  searchNeed?: SearchNeed;
}

const share = z.number().min(0).max(1);
const whole = z.int().min(0);

// The fields for the figures; other fields are ignored.
const rowSchema = z.object({
  id: z.string(),
  sample: whole,
  answer: z.string().nullable(),
  em: share,
  f1: share,
  precision: share,
  recall: share,
  cover_em: share,
  token_cover: share,
  drop_em: share,
  drop_f1: share,
  confidence: share.optional(),
  searches: whole,
  strategySearches: whole.optional(),
  queries: z.array(z.string()),
  evidence: z.object({ gold: z.int().min(1), given: whole, seen: z.array(whole) }).optional(),
  turns: whole,
  invalidTurns: whole,
  end: z.string(),
  formatOk: z.boolean(),
  tokens: whole.optional(),
  promptTokens: whole.optional(),
  cuts: z.object({ messages: whole, observations: whole, context: z.boolean() }).optional(),
  metrics: z.record(z.string(), z.number()).optional(),
  hops: z.number().optional(),
  type: z.string().optional(),
  error: z.object({ code: z.string() }).optional(),
});

/**
 * Computes the summary of an evaluation again from its rows on disk. @param options.seed of the bootstrap.
 * @throws {DataError} FILE_MISSING, JSONL_BAD_LINE; PREDICTIONS_FIELD for a row that lacks a number; PREDICTIONS_EMPTY;
 * PREDICTIONS_UNMATCHED when another run has none of the questions.
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
    if (row.error === undefined && (unaided ?? forced) !== undefined)
      cases.push(caseOf(row, unaided, forced));
  }
  if (!found) throw new DataError("PREDICTIONS_EMPTY", `${source.rows}: has no rows to summarize.`);
  for (const [path, side] of [
    [source.unaided, "unaided"],
    [source.forced, "forced"],
  ] as const) {
    if (path === undefined || cases.some((each) => each[side] !== undefined)) continue;
    const message = `${path}: has none of the questions of ${source.rows}. Give rows of the same questions.`;
    throw new DataError("PREDICTIONS_UNMATCHED", message);
  }
  const result = summary.summary();
  return cases.length === 0 ? result : { ...result, searchNeed: searchNeed(cases) };
}

type OtherRun = ReadonlyMap<string, SearchNeedRow>;

function caseOf(
  row: EvaluationRow,
  unaided: OtherRun | undefined,
  forced: OtherRun | undefined,
): SearchNeedCase {
  const { answer, em, searches } = row;
  const without = unaided?.get(keyOf(row));
  const within = forced?.get(keyOf(row));
  return { free: { answer, em, searches }, unaided: without, forced: within };
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
    const problem = `${[`${path}:${line}`, ...place].join(": ")} ${message} --rows takes rows.jsonl of the current agentrl eval --out; for other files use --predictions.`;
    throw new DataError("PREDICTIONS_FIELD", problem);
  }
}

/** The compared fields of a row. */
export type SearchNeedRow = Pick<EvaluationRow, "answer" | "em" | "searches">;

type SearchNeedCase = { free: SearchNeedRow; unaided?: SearchNeedRow; forced?: SearchNeedRow };

type CountedShare = { n: number; share: number | null };

interface SearchNeed {
  /** Of the draws that searched, those whose answer without search is the same: the search changed nothing. */
  over_search_rate: CountedShare;
  /** Of the draws that searched, those answered rightly without search. */
  right_unaided_rate: CountedShare;
  /** Of the draws that searched, those wrong without search and right with it. */
  search_helped_rate: CountedShare;
  /** Of the draws that searched, those right without search and wrong with it. */
  search_hurt_rate: CountedShare;
  /** Of the draws that did not search, those answered wrongly; needs no other run. */
  under_search_rate: CountedShare;
  /** Of the draws that did not search and were wrong, those right when forced to search. */
  search_missed_rate: CountedShare;
}

/**
 * Over-search and under-search of a run, over draws that all runs measured. Source: β-GRPO, arXiv 2505.17281, whose rates count steps
 * judged by a model. Different here: questions are counted, without a judge; answers are the same when equal after the "squad"
 * normalisation; right is em 1. @example searchNeed([{ free: { answer: "x", em: 1, searches: 2 }, unaided: { answer: "x", em: 1,
 * searches: 0 } }]) // over_search_rate { n: 1, share: 1 }
 */
export function searchNeed(cases: Iterable<SearchNeedCase>): SearchNeed {
  const counts = {
    over_search_rate: counter(),
    right_unaided_rate: counter(),
    search_helped_rate: counter(),
    search_hurt_rate: counter(),
    under_search_rate: counter(),
    search_missed_rate: counter(),
  };
  for (const { free, unaided, forced } of cases) {
    const right = free.em === 1;
    if (free.searches === 0) {
      counts.under_search_rate.add(!right);
      if (forced !== undefined && !right) counts.search_missed_rate.add(forced.em === 1);
    } else if (unaided !== undefined) {
      const rightUnaided = unaided.em === 1;
      counts.over_search_rate.add(normal(free.answer) === normal(unaided.answer));
      counts.right_unaided_rate.add(rightUnaided);
      counts.search_helped_rate.add(right && !rightUnaided);
      counts.search_hurt_rate.add(!right && rightUnaided);
    }
  }
  const shares = Object.entries(counts).map(([name, { share }]) => [name, share()] as const);
  return Object.fromEntries(shares) as unknown as SearchNeed;
}

/** Two missing answers count as equal. */
function normal(answer: string | null): string | null {
  return answer === null ? null : normalizeAnswer(answer);
}

function counter(): { add: (holds: boolean) => void; share: () => CountedShare } {
  let n = 0;
  let held = 0;
  return {
    add: (holds) => {
      n += 1;
      held += Number(holds);
    },
    share: () => ({ n, share: n === 0 ? null : held / n }),
  };
}

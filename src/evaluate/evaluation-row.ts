import { goldShown } from "../trajectory/gold-shown.ts";
import type { Task } from "../trajectory/task.ts";
import {
  type Call,
  type EndReason,
  type Segment,
  type Trajectory,
  firstAnswerAt,
  isInvalidTurn,
  policyTokenCount,
  searchQueries,
} from "../trajectory/trajectory.ts";
import { answerScores } from "./metrics/answer-metrics.ts";

/** Version of the metric definitions; changes whenever a score could change. */
export const ANSWER_METRICS_VERSION = "squad-2";

/** Result of one draw of one question: a line of `rows.jsonl`. Every figure of an evaluation is computed from rows. */
export interface EvaluationRow {
  id: string;
  sample: number;
  question: string;
  references: string[];
  /** null: no answer; scored as empty text. */
  answer: string | null;
  /** Each from 0 to 1, by the "squad" normalisation; `token_cover`, `drop_em`, `drop_f1` by their own. */
  em: number;
  f1: number;
  precision: number;
  recall: number;
  cover_em: number;
  token_cover: number;
  drop_em: number;
  drop_f1: number;
  confidence?: number;
  /** Executed searches of the policy, without a strategy's own search before the prompt. */
  searches: number;
  /** Searches by the strategy itself before the first message; absent for none. */
  strategySearches?: number;
  queries: string[];
  evidence?: { gold: number; given: number; seen: number[] };
  turns: number;
  invalidTurns: number;
  end: EndReason;
  formatOk: boolean;
  /** Tokens that the policy wrote; absent if a server did not count them. */
  tokens?: number;
  /** Tokens that it read, over all calls; absent if not counted. */
  promptTokens?: number;
  /** Share of what the policy wrote that stands before its first answer; absent without one. */
  firstAnswer?: number;
  /** What budgets cut; absent if nobody was asked. */
  cuts?: Cuts;
  /** What the environment paid over all turns; absent where it pays nothing. */
  return?: number;
  /** What the recipe's rewards and `evaluation.metrics` came to, by name, without what could not be scored. */
  metrics?: Record<string, number>;
  hops?: number;
  type?: string;
  /** Present if the draw ended in an error: it was not measured and counts only among the errors. */
  error?: NonNullable<Trajectory["error"]>;
}

/** What a draw's budgets, or its server's limits, cut. */
export interface Cuts {
  messages: number;
  observations: number;
  /** Whether the context was full: it ended the draw, or older tokens were dropped. */
  context: boolean;
}

/** Scores one trajectory. */
export function evaluationRow(task: Task, sample: number, trajectory: Trajectory): EvaluationRow {
  const { answer, confidence, turns, end, error } = trajectory;
  const { references } = task;
  const { hops, type } = task.annotations;
  const queries = searchQueries(trajectory);
  const invalidTurns = turns.filter(isInvalidTurn).length;
  const evidence = evidenceOf(task, trajectory);
  const promptTokens = promptTokenCount(trajectory);
  const by = answerScores({ prediction: answer, references });
  const row: EvaluationRow = {
    id: task.id,
    sample,
    question: task.question,
    references,
    answer,
    // Never null, because a row's answer is one text.
    em: by.em ?? 0,
    f1: by.f1 ?? 0,
    precision: by.precision ?? 0,
    recall: by.recall ?? 0,
    cover_em: by.cover_em ?? 0,
    token_cover: by.token_cover ?? 0,
    drop_em: by.drop_em ?? 0,
    drop_f1: by.drop_f1 ?? 0,
    searches: queries.length,
    queries,
    turns: turns.length,
    invalidTurns,
    end,
    formatOk: turns.length > 0 && invalidTurns === 0,
  };
  if (!trajectory.calls.some(isUncounted)) row.tokens = policyTokenCount(trajectory);
  if (trajectory.calls.length > 0 || end === "context-limit") row.cuts = cutsOf(trajectory);
  const own = trajectory.given?.length ?? 0;
  if (own > 0) row.strategySearches = own;
  const firstAnswer = firstAnswerAt(trajectory);
  if (firstAnswer !== null) row.firstAnswer = firstAnswer;
  if (confidence !== undefined) row.confidence = confidence;
  if (promptTokens !== undefined) row.promptTokens = promptTokens;
  if (evidence !== undefined) row.evidence = evidence;
  const paid = turns.flatMap(({ reward }) => reward ?? []);
  if (paid.length > 0) row.return = paid.reduce((sum, each) => sum + each, 0);
  if (hops !== undefined) row.hops = hops;
  if (type !== undefined) row.type = type;
  if (error !== undefined) row.error = error;
  return row;
}

function cutsOf({ calls, turns, given = [], end }: Trajectory): Cuts {
  const shown = [...given, ...turns.flatMap(({ observations }) => observations)];
  return {
    messages: calls.filter(({ role, finish }) => role === "policy" && finish === "length").length,
    observations: shown.filter(({ cut }) => cut === true).length,
    context:
      end === "context-limit" ||
      calls.some(({ finish, cut }) => finish === "context" || cut === true),
  };
}

function evidenceOf(task: Task, trajectory: Trajectory): EvaluationRow["evidence"] {
  const gold = new Set(task.annotations.supportingPassages ?? []);
  if (gold.size === 0) return undefined;
  const { given, after } = goldShown(trajectory, gold);
  const searched = trajectory.turns.map(({ observations }) =>
    observations.some(({ tool }) => tool === "search"),
  );
  return { gold: gold.size, given, seen: after.filter((_, turn) => searched[turn]) };
}

function promptTokenCount({ calls }: Trajectory): number | undefined {
  const lengths: number[] = [];
  let read = 0;
  if (calls.some(isUncounted)) return undefined;
  for (const { parent, prompt, completion, usage } of calls) {
    const before = (parent === null ? 0 : (lengths[parent] ?? 0)) + tokensIn(prompt);
    lengths.push(before + tokensIn(completion));
    read += usage?.promptTokens ?? before;
  }
  return calls.length === 0 ? undefined : read;
}

function isUncounted({ prompt, completion, usage }: Call): boolean {
  return usage === undefined && [...prompt, ...completion].some(({ text }) => text !== undefined);
}

function tokensIn(segments: readonly Segment[]): number {
  return segments.reduce((sum, { ids }) => sum + ids.length, 0);
}

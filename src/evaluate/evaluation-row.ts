import { coverExactMatch, exactMatch, tokenF1 } from "../text/answers.ts";
import { searchCount } from "../trajectory/search-count.ts";
import type { Task } from "../trajectory/task.ts";
import { policyTokenCount } from "../trajectory/token-rows.ts";
import type { EndReason, Trajectory } from "../trajectory/trajectory.ts";

/** Which definition of the answer metrics made a row; changes whenever a score could. */
export const ANSWER_METRICS_VERSION = "squad-1";

/** What one draw of one question came to: a line of `rows.jsonl`. Every figure of an evaluation is computed from rows. */
export interface EvaluationRow {
  /** The question's id. */
  id: string;
  /** Which draw of the question, from 0. */
  sample: number;
  question: string;
  references: string[];
  /** null: none was given; scored as empty text. */
  answer: string | null;
  /** Each from 0 to 1, by the "squad" normalisation. */
  em: number;
  f1: number;
  cover_em: number;
  /** Searches that the policy made and that were run; a strategy's own search before the prompt is not one. */
  searches: number;
  turns: number;
  end: EndReason;
  /** There is a message, and all of them parsed without a problem. */
  formatOk: boolean;
  /** Tokens that the policy wrote. */
  tokens: number;
  hops?: number;
  type?: string;
  /** When it ended in an error: nothing was measured, and it counts as wrong. */
  error?: NonNullable<Trajectory["error"]>;
}

/** Scores one trajectory. */
export function evaluationRow(task: Task, sample: number, trajectory: Trajectory): EvaluationRow {
  const { answer, turns, end, error } = trajectory;
  const { references } = task;
  const { hops, type } = task.annotations;
  const given = answer ?? "";
  return {
    id: task.id,
    sample,
    question: task.question,
    references,
    answer,
    em: exactMatch(given, references),
    f1: tokenF1(given, references),
    cover_em: coverExactMatch(given, references),
    searches: searchCount(trajectory),
    turns: turns.length,
    end,
    formatOk: turns.length > 0 && turns.every(({ problems }) => problems.length === 0),
    tokens: policyTokenCount(trajectory),
    ...(hops === undefined ? {} : { hops }),
    ...(type === undefined ? {} : { type }),
    ...(error === undefined ? {} : { error }),
  };
}

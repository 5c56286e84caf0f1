import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { evaluationName } from "../evaluate/policy-label.ts";
import { readComparedRun } from "./compare/read-compared-run.ts";
import { valueOf } from "./compare/shared-questions.ts";

/** One run's held-out questions. */
export interface ArmQuestions {
  /** The metric's value by question; questions without it are left out. */
  values: ReadonlyMap<string, number>;
  /** Hash of every answer, search and score: equal hashes, equal outcome. */
  outcome: string;
}

/**
 * What a run's folder holds of a claim's metric, question by question. A run that trained nothing was evaluated only before.
 * @param metric as the claim names it: `eval.after.em`, `eval.sets.transfer.after.em`.
 * @returns null for a metric that is no metric of an evaluation, and without the evaluation's rows.
 */
export async function armQuestions(folder: string, metric: string): Promise<ArmQuestions | null> {
  const [, set = null, when, name] =
    /^eval\.(?:sets\.([^.]+)\.)?(before|after)\.([^.]+)$/.exec(metric) ?? [];
  if (when === undefined || name === undefined) return null;
  const file = [when, "before"]
    .map((each) => join(folder, "eval", `${evaluationName(set, each)}.rows.jsonl`))
    .find((path) => existsSync(path));
  return file === undefined ? null : questionsIn(file, name);
}

/** The values of a metric in a file of rows; null where no row has it. */
export async function questionsIn(file: string, name: string): Promise<ArmQuestions | null> {
  const { questions } = await readComparedRun(file);
  const values = [...questions.values()].flatMap((question) => {
    const value = valueOf(question, name);
    return value === null ? [] : [[question.id, value] as const];
  });
  if (values.length === 0) return null;
  const outcome = createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
  return { values: new Map(values), outcome };
}

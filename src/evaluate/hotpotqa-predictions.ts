import { DataError } from "../base/errors.ts";
import { plainNumber } from "../base/exact-json.ts";
import { readExactJson } from "../base/open-text.ts";
import { checkOptions, z } from "../base/schema.ts";
import { answerText } from "../data/accepted-answers.ts";
import { loadTasks } from "../data/tasks.ts";
import type { Task } from "../trajectory/task.ts";
import type { HotpotqaPrediction, HotpotqaQuestion } from "./metrics/hotpotqa-official.ts";

/** A question of a gold file with its prediction. */
export interface HotpotqaCase {
  id: string;
  gold: HotpotqaQuestion;
  predicted: HotpotqaPrediction;
}

export interface HotpotqaFiles {
  /** In the gold file's order. */
  cases: HotpotqaCase[];
  /** Whether any question has predicted facts; without them only answers can be scored. */
  hasFacts: boolean;
  /** Predicted answers and facts of questions that the gold file lacks; they are ignored. */
  unknown: number;
}

const facts = z.array(z.tuple([z.string(), z.preprocess(plainNumber, z.int())]));
const answer = z
  .custom<unknown>((value) => answerText(value) !== null, {
    error: "expected text, a number, true or false",
  })
  .transform((value) => answerText(value) ?? "");
// Other keys, such as 2WikiMultihopQA's evidences, are ignored.
const predictionsSchema = z.object({
  answer: z.record(z.string(), answer),
  sp: z.record(z.string(), facts).default({}),
});

/**
 * Reads a prediction file of HotpotQA's evaluation, `{"answer": {id: text}, "sp": {id: [[title, sentence], …]}}`, and joins it with gold
 * questions in any layout with supporting facts.
 *
 * @throws {DataError} PREDICTIONS_FIELD for another shape; PREDICTIONS_EMPTY when no gold question has a prediction; FILE_MISSING,
 *    FILE_NOT_JSON, and as `loadTasks`.
 */
export async function readHotpotqaFiles(predictions: string, gold: string): Promise<HotpotqaFiles> {
  const checked = checkOptions(predictionsSchema, await readExactJson(predictions));
  if (checked.problem !== null) {
    const { path, message } = checked.problem;
    throw new DataError(
      "PREDICTIONS_FIELD",
      `${[predictions, ...path].join(": ")} ${message} HotpotQA's prediction files are {"answer": {id: text}, "sp": {id: [[title, sentence], …]}}; for other files omit --layout.`,
    );
  }
  const { answer: answers, sp } = checked.value;
  const tasks = await loadTasks(gold);
  checkFacts(tasks, gold);
  const cases = tasks.map((task): HotpotqaCase => {
    const answer = Object.hasOwn(answers, task.id) ? answers[task.id] : undefined;
    const named = Object.hasOwn(sp, task.id) ? sp[task.id] : undefined;
    return {
      id: task.id,
      gold: { references: task.references, facts: task.annotations.supportingFacts ?? [] },
      predicted: {
        answer,
        facts:
          named === undefined ? undefined : named.map(([title, sentence]) => ({ title, sentence })),
      },
    };
  });
  const known = new Set(tasks.map(({ id }) => id));
  const ids = [...Object.keys(answers), ...Object.keys(sp)];
  const unknown = ids.filter((id) => !known.has(id)).length;
  if (unknown === ids.length) {
    throw new DataError(
      "PREDICTIONS_EMPTY",
      `${predictions}: has no prediction for the ${tasks.length} questions of ${gold}. Check that both files are of one split.`,
    );
  }
  return { cases, hasFacts: Object.keys(sp).length > 0, unknown };
}

/** @throws {DataError} PREDICTIONS_FIELD when no question has supporting facts. */
function checkFacts(tasks: readonly Task[], path: string): void {
  if (tasks.some(({ annotations }) => annotations.supportingFacts !== undefined)) return;
  throw new DataError(
    "PREDICTIONS_FIELD",
    `${path}: no question has supporting facts, which --layout hotpotqa scores. Score the answers alone without --layout.`,
  );
}

import { stat } from "node:fs/promises";
import { join } from "node:path";
import { DataError } from "../../base/errors.ts";
import { readJsonl } from "../../base/jsonl.ts";
import { checkOptions, z } from "../../base/schema.ts";
import type { ScoredAnswer } from "../metrics/answer-metrics.ts";
import { type PredictionSource, readPredictions, readPredictionsById } from "../predictions.ts";
import type { AnswerToJudge } from "./judged-row.ts";

/** Source of the answers: the folder of an evaluation, or any predictions file. */
export interface JudgedSource extends PredictionSource {
  questionField?: string;
}

/** Answers, and the number of an evaluation's rows left out because their rollout had failed. */
export type AnswersRead = { answers: AnswerToJudge[]; failedRollouts: number };

const rowSchema = z.object({
  id: z.string(),
  sample: z.int().min(0),
  question: z.string(),
  references: z.array(z.string()).min(1),
  answer: z.string().nullable(),
  error: z.unknown().optional(),
});

const ROWS_FILE = "rows.jsonl";

/** Reads the answers to judge. @throws {DataError} as `readPredictions`; DATA_BAD_RECORD for an incomplete row of an evaluation. */
export async function readAnswersToJudge(source: JudgedSource): Promise<AnswersRead> {
  const found = await stat(source.predictions).catch(() => null);
  if (found?.isDirectory() === true) return evaluationRows(source.predictions);
  const { questionField = "question", ...answered } = source;
  const { predictions, references, referencesField, idField } = source;
  // The question is read like an answer, with the same fields, paths and messages.
  const asked = {
    predictions: references ?? predictions,
    predictionField: questionField,
    referencesField,
    idField,
  };
  const byId = references !== undefined || idField !== undefined;
  const numbered = async (from: PredictionSource): ReturnType<typeof readPredictionsById> => {
    if (byId) return readPredictionsById(from);
    const records = await readPredictions(from);
    return new Map(records.map((record, i) => [String(i + 1), record]));
  };
  const questions = await numbered(asked);
  const answers = await numbered(answered);
  return {
    answers: [...answers].map(([id, answer]) => ({
      id,
      sample: 0,
      question: textOf(questions.get(id)?.prediction ?? null) ?? "",
      references: answer.references,
      prediction: textOf(answer.prediction),
    })),
    failedRollouts: 0,
  };
}

function textOf(prediction: ScoredAnswer["prediction"]): string | null {
  return prediction === null || typeof prediction === "string" ? prediction : prediction.join("; ");
}

async function evaluationRows(folder: string): Promise<AnswersRead> {
  const path = join(folder, ROWS_FILE);
  const answers: AnswerToJudge[] = [];
  let failedRollouts = 0;
  for await (const { value, line } of readJsonl(path, { tolerateCutEnd: true })) {
    const checked = checkOptions(rowSchema, value);
    if (checked.problem !== null) {
      const { path: keys, message } = checked.problem;
      const problem = `${path}:${line}: ${keys.join(".")} ${message} It must be a row of \`agentrl eval --out\`.`;
      throw new DataError("DATA_BAD_RECORD", problem);
    }
    const { answer, error, ...rest } = checked.value;
    if (error !== undefined) failedRollouts += 1;
    else answers.push({ ...rest, prediction: answer });
  }
  if (answers.length > 0) return { answers, failedRollouts };
  const problem = `${path}: has no answers to judge (${failedRollouts} failed rollouts). Check that the evaluation finished.`;
  throw new DataError("PREDICTIONS_EMPTY", problem);
}

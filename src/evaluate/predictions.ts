import { DataError } from "../base/errors.ts";
import { numberId, plainNumber } from "../base/exact-json.ts";
import { readExactJson } from "../base/open-text.ts";
import { checkOptions, z } from "../base/schema.ts";
import { acceptedAnswers, answerText } from "../data/accepted-answers.ts";
import type { AnswerDoubts } from "../data/answer-doubts.ts";
import type { JsonRecord } from "../data/layouts/layout.ts";
import { loadTasks } from "../data/tasks.ts";
import type { Task } from "../trajectory/task.ts";
import type { ScoredAnswer } from "./metrics/answer-metrics.ts";
import type { HotpotqaPrediction, HotpotqaQuestion } from "./metrics/hotpotqa-official.ts";
import { type FieldSource, type PredictionFields, predictionFields } from "./prediction-fields.ts";
import {
  type Placed,
  fieldAt,
  jsonObject,
  notEmpty,
  readPlaced,
  wrongType,
} from "./prediction-records.ts";

/**
 * Places of answers and references. Fields are dotted paths: `answers.0.text`; for those not given see `predictionFields`. Without
 * `references` every record holds its own; with it the files are joined by `idField`, and `predictions` may be a JSON object from id to
 * answer, whose place `predictionField` names if it is not at the top (HotpotQA's `{"answer": {id: text}}`).
 */
export interface PredictionSource extends FieldSource {
  /** Whether the references are the spans of one accepted answer; a prediction may then be a list, too. */
  spans?: boolean;
  /** Whether a question may have no accepted answer (SQuAD 2.0): an empty list, or null. */
  unanswerable?: boolean;
  /** What separates accepted answers within one text; "none": each text is one answer. */
  answerSeparator?: string;
  /** Learns what accepted answers look like. */
  doubts?: AnswerDoubts;
  verdictField?: string;
}

type Understood = PredictionSource & { fields: PredictionFields };

async function understood(source: PredictionSource): Promise<Understood> {
  return { ...source, fields: await predictionFields(source) };
}

/**
 * Reads answers with their references, in the order of the references, at least one; without a prediction it is a missing answer.
 * @throws {DataError} FILE_MISSING, FILE_NOT_JSON, JSONL_BAD_LINE; PREDICTIONS_EMPTY; PREDICTIONS_FIELD for a missing field or another
 * type; PREDICTIONS_UNMATCHED for an unknown or repeated id.
 */
export async function readPredictions(given: PredictionSource): Promise<ScoredAnswer[]> {
  const { predictions, references } = given;
  const source = await understood(given);
  if (references !== undefined) return [...(await joined({ ...source, references })).values()];
  const records = notEmpty(await readPlaced(predictions), predictions);
  return records.map((record) => scoredAt(record, source));
}

/** As `readPredictions`, each with its id: without references and `idField` a record's own id, otherwise its number from 1. */
export async function readPredictionRows(
  given: PredictionSource,
): Promise<[id: string, answer: ScoredAnswer][]> {
  const { predictions, references, idField } = given;
  if (references !== undefined || idField !== undefined)
    return [...(await readPredictionsById(given))];
  const source = await understood(given);
  const records = notEmpty(await readPlaced(predictions), predictions);
  const places = new Map<string, string>();
  return records.map((record, i) => {
    const own = ownId(record, source.fields.id);
    if (own !== null) firstPlace(places, own, record, "or name another field with --id-field");
    return [own ?? String(i + 1), scoredAt(record, source)];
  });
}

/** @throws {DataError} PREDICTIONS_UNMATCHED when the id was placed before. */
function firstPlace(
  places: Map<string, string>,
  id: string,
  { where }: Placed,
  advice = "of the two",
): void {
  const first = places.get(id);
  if (first !== undefined) {
    const message = `${where}: id ${JSON.stringify(id)} is already at ${first}; each id may occur once. Delete one ${advice}.`;
    throw new DataError("PREDICTIONS_UNMATCHED", message);
  }
  places.set(id, where);
}

function ownId({ value }: Placed, field: string): string | null {
  const id: unknown = (value as JsonRecord | null)?.[field];
  return typeof id === "string" && id.trim() !== "" ? id : numberId(id);
}

/** As `readPredictions`, by id: without a references file each record must have one. @throws {DataError} likewise. */
export async function readPredictionsById(
  given: PredictionSource,
): Promise<Map<string, ScoredAnswer>> {
  const { predictions, references } = given;
  const source = await understood(given);
  if (references !== undefined) return joined({ ...source, references });
  const records = byId(notEmpty(await readPlaced(predictions), predictions), source.fields.id);
  return mapValues(records, (record) => scoredAt(record, source));
}

function scoredAt(record: Placed, source: Understood): ScoredAnswer {
  return {
    ...predictedAt(record, source),
    references: referencesAt(record, source),
    spans: source.spans === true ? true : undefined,
  };
}

type Predicted = Pick<ScoredAnswer, "prediction" | "verdict">;

function predictedAt(record: Placed, source: Understood): Predicted {
  const { fields, verdictField, spans = false } = source;
  const value = fieldAt(record, fields.prediction);
  const prediction = answerOf(record, fields.prediction, value, spans);
  return verdictField === undefined
    ? { prediction }
    : { prediction, verdict: verdictAt(record, verdictField) };
}

async function joined(
  source: Understood & { references: string },
): Promise<Map<string, ScoredAnswer>> {
  const { references } = source;
  const predicted = await predictionsById(source);
  const golds = byId(notEmpty(await readPlaced(references), references), source.fields.id);
  for (const [id, { where }] of predicted) {
    if (golds.has(id)) continue;
    const message = `${where}: id ${JSON.stringify(id)} is not in ${references}. Check that both files are of one split and --id-field is right.`;
    throw new DataError("PREDICTIONS_UNMATCHED", message);
  }
  return mapValues(golds, (gold, id) => ({
    ...(predicted.get(id)?.answer ?? { prediction: null }),
    references: referencesAt(gold, source),
    spans: source.spans === true ? true : undefined,
  }));
}

/** The answers of a predictions file alone, by id; null: no answer. @throws {DataError} likewise. */
export async function readAnswersById(
  source: Omit<PredictionSource, "references" | "referencesField" | "spans">,
): Promise<Map<string, string | null>> {
  const isText = (prediction: unknown) => typeof prediction === "string";
  return mapValues(await predictionsById(await understood(source)), ({ answer: { prediction } }) =>
    isText(prediction) ? prediction : null,
  );
}

async function predictionsById(
  source: Understood,
): Promise<Map<string, { answer: Predicted; where: string }>> {
  const { predictions, predictionField, fields } = source;
  const whole = await jsonObject(predictions);
  if (whole === null) {
    const records = byId(notEmpty(await readPlaced(predictions), predictions), fields.id);
    return mapValues(records, (record) => ({
      answer: predictedAt(record, source),
      where: record.where,
    }));
  }
  const place = { value: whole, where: predictions };
  const answers = predictionField === undefined ? whole : fieldAt(place, predictionField);
  if (typeof answers !== "object" || answers === null || Array.isArray(answers))
    throw wrongType(place, predictionField ?? "", answers, "an object from id to answer");
  const entries = notEmpty(Object.entries(answers), predictions);
  return new Map(
    entries.map(([id, value]) => {
      const prediction = answerOf(place, id, value, source.spans === true);
      return [id, { answer: { prediction }, where: predictions }];
    }),
  );
}

function byId(records: readonly Placed[], idField: string): Map<string, Placed> {
  const found = new Map<string, Placed>();
  const places = new Map<string, string>();
  for (const record of records) {
    const value = fieldAt(record, idField);
    const id = typeof value === "string" ? value : numberId(value);
    if (id === null) throw wrongType(record, idField, value, "an id (text or number)");
    firstPlace(places, id, record);
    found.set(id, record);
  }
  return found;
}

function answerOf(
  record: Placed,
  field: string,
  value: unknown,
  spans: boolean,
): ScoredAnswer["prediction"] {
  if (value === null) return null;
  if (spans && Array.isArray(value)) {
    const texts = value.map(answerText).filter((text) => text !== null);
    if (texts.length === value.length) return texts;
  }
  const text = answerText(value);
  const allowed = `text, a number, true, false${spans ? ", a list of them" : ""} or null`;
  if (text === null) throw wrongType(record, field, value, allowed);
  return text;
}

const VERDICTS = new Map(
  Object.entries({
    true: true,
    yes: true,
    correct: true,
    "1": true,
    false: false,
    no: false,
    incorrect: false,
    "0": false,
  }),
);

function verdictAt(record: Placed, field: string): boolean | null {
  const value = fieldAt(record, field);
  if (value === null) return null;
  const text = typeof value === "boolean" ? String(value) : (numberId(value) ?? answerText(value));
  const verdict = VERDICTS.get(text?.trim().toLowerCase() ?? "");
  if (verdict !== undefined) return verdict;
  throw wrongType(record, field, value, `one of ${[...VERDICTS.keys()].join(", ")}, or null`);
}

function referencesAt(record: Placed, source: Understood): string[] {
  const { unanswerable = false } = source;
  const field = source.fields.references;
  const value = fieldAt(record, field);
  if (unanswerable && value === null) return [];
  const values: unknown[] = Array.isArray(value) ? value : [value];
  const texts = values.map(answerText).filter((text) => text !== null);
  const { answerSeparator: separator, doubts } = source;
  const found = acceptedAnswers(texts, separator);
  const isShort = !("problem" in found) && found.answers.length === 0 && !unanswerable;
  if (isShort || texts.length < values.length || "problem" in found) {
    const allowed = "an accepted answer or a list of at least one";
    const hint = values.length === 0 ? " (questions without an answer: --layout squad_v2)" : "";
    const whole = "problem" in found ? "; --answer-separator none takes texts as they are" : "";
    throw wrongType(record, field, value, `${allowed}${hint}${whole}`);
  }
  if (separator === undefined) doubts?.add(texts, found, record.where);
  return found.answers;
}

function mapValues<A, B>(
  map: ReadonlyMap<string, A>,
  change: (value: A, key: string) => B,
): Map<string, B> {
  return new Map([...map].map(([key, value]) => [key, change(value, key)]));
}

type HotpotqaCase = { id: string; gold: HotpotqaQuestion; predicted: HotpotqaPrediction };

interface HotpotqaFiles {
  cases: HotpotqaCase[];
  /** Whether any question has predicted facts; without them only answers can be scored. */
  hasFacts: boolean;
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
 * A prediction file of HotpotQA's evaluation, `{"answer": {id: text}, "sp": {id: [[title, sentence], …]}}`, joined with gold questions.
 * @throws {DataError} PREDICTIONS_FIELD for another shape; PREDICTIONS_EMPTY without a prediction; FILE_MISSING; as `loadTasks`.
 */
export async function readHotpotqaFiles(predictions: string, gold: string): Promise<HotpotqaFiles> {
  const checked = checkOptions(predictionsSchema, await readExactJson(predictions));
  if (checked.problem !== null) {
    const { path, message } = checked.problem;
    const problem = `${[predictions, ...path].join(": ")} ${message} HotpotQA's prediction files are {"answer": {id: text}, "sp": {id: [[title, sentence], …]}}; for other files omit --layout.`;
    throw new DataError("PREDICTIONS_FIELD", problem);
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
    const problem = `${predictions}: has no prediction for the ${tasks.length} questions of ${gold}. Check that both files are of one split.`;
    throw new DataError("PREDICTIONS_EMPTY", problem);
  }
  return { cases, hasFacts: Object.keys(sp).length > 0, unknown };
}

/** @throws {DataError} PREDICTIONS_FIELD when no question has supporting facts. */
function checkFacts(tasks: readonly Task[], path: string): void {
  if (tasks.some(({ annotations }) => annotations.supportingFacts !== undefined)) return;
  const message = `${path}: no question has supporting facts, which --layout hotpotqa scores. Score the answers alone without --layout.`;
  throw new DataError("PREDICTIONS_FIELD", message);
}

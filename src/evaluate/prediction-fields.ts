/** The fields of predictions files: the user's names, the defaults, or names that say what a field has. */
import { DataError } from "../base/errors.ts";
import { fieldsNamed, fieldsWith } from "../data/fields.ts";
import type { JsonRecord } from "../data/layouts/layout.ts";
import { firstPlaced, jsonObject, type Placed } from "./prediction-records.ts";

/** Files and the fields that the user named. */
export interface FieldSource {
  predictions: string;
  predictionField?: string;
  references?: string;
  referencesField?: string;
  idField?: string;
}

/** The field of each role. */
export interface PredictionFields {
  prediction: string;
  references: string;
  id: string;
  guessed: readonly Role[];
}

type Role = "prediction" | "references" | "id";

const PREDICTION_NAMES = (
  "prediction predictions predicted predicted_answer pred model_answer model_output " +
  "response output completion generated generated_answer"
).split(" ");

/** The fields by the first record of each file: as given, default names, else guessed. @throws {DataError} PREDICTIONS_FIELD if unclear. */
export async function predictionFields(source: FieldSource): Promise<PredictionFields> {
  const { predictions, references } = source;
  const answered = (await jsonObject(predictions)) === null ? await firstPlaced(predictions) : null;
  const gold = references === undefined ? answered : await firstPlaced(references);
  const prediction = chosen("prediction", source.predictionField, answered, (record) =>
    fieldsNamed(PREDICTION_NAMES, record),
  );
  const accepted = chosen("references", source.referencesField, gold, (record) =>
    fieldsWith("answer", record).filter((field) => gold !== answered || field !== prediction.field),
  );
  const id = chosen("id", source.idField, gold, (record) =>
    fieldsWith("id", record)
      .filter((field) => answered === null || Object.hasOwn(recordOf(answered), field))
      .slice(0, 1),
  );
  const all = { prediction, references: accepted, id };
  const roles = Object.keys(all) as Role[];
  return {
    prediction: prediction.field,
    references: accepted.field,
    id: id.field,
    guessed: roles.filter((role) => all[role].isGuessed),
  };
}

function chosen(
  role: Role,
  given: string | undefined,
  placed: Placed | null,
  fitting: (record: JsonRecord) => string[],
): { field: string; isGuessed: boolean } {
  const record = recordOf(placed);
  if (given !== undefined || placed === null || Object.hasOwn(record, role))
    return { field: given ?? role, isGuessed: false };
  const [found, ...others] = fitting(record);
  if (others.length > 0) {
    const names = [found, ...others].map((name) => `"${name ?? ""}"`).join(" or ");
    const message = `${placed.where}: has no field "${role}"; it could be ${names}. Set the field with --${role}-field.`;
    throw new DataError("PREDICTIONS_FIELD", message);
  }
  return { field: found ?? role, isGuessed: found !== undefined };
}

function recordOf(placed: Placed | null): JsonRecord {
  const value = placed?.value;
  return typeof value === "object" && value !== null ? (value as JsonRecord) : {};
}

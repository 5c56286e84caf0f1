import { checkOptions, z } from "../../base/schema.ts";
import type { Candidate, PreferencePair, Provenance } from "../sample.ts";
import type { Task } from "../task.ts";
import type { Trajectory } from "../trajectory.ts";
import type { LintReading } from "./lint-reading.ts";
import { readTrajectory } from "./lint-shape.ts";

/** A trajectory of a line, with the line's facts about it. */
export type LintUnit = { id: string; trajectory: Trajectory; provenance?: Provenance };

/** The content of a line: its trajectories, and the problems of the line itself. */
export interface ReadLine {
  units: LintUnit[];
  ids: string[];
  findings: { id: string | null; code: string; message: string }[];
}

/** Codes for problems of a line; the rules for trajectories have their own. */
export const LINE_CODES = {
  json: "Every line is a JSON value.",
  shape:
    "Every line is a trajectory, a sample, a question's draws or a pair, with all its required keys.",
  "id-twice": "No two lines, and no two draws, have the same id.",
  sample:
    "A sample has the id of its trajectory and of its question, a weight of at least 0, and numeric scores.",
  pair: "Both sides of a pair belong to its question and are equal before the first compared turn.",
} as const;

const sampleShape = z.looseObject({
  id: z.string(),
  weight: z.custom<number>((value) => typeof value === "number", "expected a number"),
  scores: z.record(z.string(), z.unknown()),
  provenance: z.looseObject({ seed: z.number(), strategy: z.unknown() }),
  trajectory: z.unknown(),
});
const taskShape = z.looseObject({ id: z.string(), question: z.string() });
const pairShape = z.looseObject({
  id: z.string(),
  task: taskShape,
  chosen: sampleShape,
  rejected: sampleShape,
  fromTurn: z.int().min(0).optional(),
  margin: z.custom<number>(Number.isFinite, "expected a number"),
});
const drawsShape = z.looseObject({ task: taskShape, candidates: z.array(sampleShape) });

/** Reads a line by the keys that it has: a trajectory, a sample, a question's draws or a pair. */
export function readLine(value: unknown): ReadLine {
  const line: ReadLine = { units: [], ids: [], findings: [] };
  const has = (key: string): boolean => typeof value === "object" && value !== null && key in value;
  if (has("chosen")) readPair(value, line);
  else if (has("candidates")) readDraws(value, line);
  else if (has("trajectory")) readSample(value, line);
  else if (has("calls")) readUnit({ id: idOf(value), value }, line);
  else
    line.findings.push({
      id: null,
      code: "shape",
      message: `is no trajectory ("calls"), sample ("trajectory"), question's draws ("candidates") or pair ("chosen").`,
    });
  return line;
}

function readPair(value: unknown, line: ReadLine): void {
  if (!fits(pairShape, value, line)) return;
  const { id, task, chosen, rejected, fromTurn = 0 } = value as PreferencePair;
  line.ids.push(id);
  const wrong = (message: string): void => {
    line.findings.push({ id, code: "pair", message });
  };
  for (const [side, candidate] of [["chosen", chosen] as const, ["rejected", rejected] as const]) {
    readCandidate(candidate, task, line);
    const { taskId } = candidate.trajectory;
    if (taskId !== task.id)
      wrong(
        `${side} answers the question ${JSON.stringify(taskId)}, not ${JSON.stringify(task.id)}.`,
      );
  }
  if (line.units.length < 2) return;
  for (let turn = 0; turn < fromTurn; turn++) {
    const [left, right] = [chosen, rejected].map(({ trajectory }) => trajectory.turns[turn]?.text);
    if (left !== undefined && left === right) continue;
    wrong(`is compared from turn ${fromTurn}, but turn ${turn} differs between both sides.`);
    break;
  }
}

function readDraws(value: unknown, line: ReadLine): void {
  if (!fits(drawsShape, value, line)) return;
  const { task, candidates } = value as { task: Task; candidates: Candidate[] };
  for (const candidate of candidates) {
    line.ids.push(candidate.id);
    readCandidate(candidate, task, line);
  }
}

function readSample(value: unknown, line: ReadLine): void {
  if (!fits(sampleShape.extend({ task: taskShape }), value, line)) return;
  const { task, ...candidate } = value as Candidate & { task: Task };
  line.ids.push(candidate.id);
  readCandidate(candidate, task, line);
}

function readCandidate(candidate: Candidate, task: Task, line: ReadLine): void {
  const { id, trajectory: value, weight, scores, provenance } = candidate;
  const unit = readUnit({ id, value, provenance }, line);
  const wrong = (message: string): void => {
    line.findings.push({ id, code: "sample", message });
  };
  if (!(Number.isFinite(weight) && weight >= 0))
    wrong(`weight is ${String(weight)}; expected a number of at least 0.`);
  for (const [name, score] of Object.entries(scores)) {
    if (!Number.isFinite(score)) wrong(`scores.${name} is ${String(score)}; expected a number.`);
  }
  if (unit === null) return;
  if (unit.trajectory.id !== id)
    wrong(`its trajectory has the id ${JSON.stringify(unit.trajectory.id)}.`);
  if (unit.trajectory.taskId !== task.id)
    wrong(
      `its trajectory answers ${JSON.stringify(unit.trajectory.taskId)}, the question is ${JSON.stringify(task.id)}.`,
    );
}

function readUnit(
  { id, value, provenance }: { id: string; value: unknown; provenance?: Provenance },
  line: ReadLine,
): LintUnit | null {
  const read = readTrajectory(value);
  if ("problem" in read) {
    line.findings.push({ id: id === "" ? null : id, code: "shape", message: read.problem });
    return null;
  }
  if (provenance === undefined) line.ids.push(read.trajectory.id);
  const unit = { id, trajectory: read.trajectory, provenance };
  line.units.push(unit);
  return unit;
}

function fits(schema: z.ZodType, value: unknown, line: ReadLine): boolean {
  const { problem } = checkOptions(schema, value);
  if (problem === null) return true;
  const { path, message } = problem;
  const place = path.length === 0 ? "the line" : path.join(".");
  const id = idOf(value);
  line.findings.push({ id: id === "" ? null : id, code: "shape", message: `${place} ${message}` });
  return false;
}

function idOf(value: unknown): string {
  const { id } = value as { id?: unknown };
  return typeof id === "string" ? id : "";
}

/** The reading of one trajectory: the file's settings and how this trajectory was made. */
export function readingOf(
  { trajectory, provenance }: LintUnit,
  { contextOf, ...reading }: LintReading,
): Omit<LintReading, "contextOf"> & ReturnType<LintReading["contextOf"]> {
  return { ...reading, ...contextOf(trajectory, provenance) };
}

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { DataError } from "../../base/errors.ts";
import { plural } from "../../base/format.ts";
import { readJsonl } from "../../base/jsonl.ts";
import type { Candidate, PreferencePair } from "../../trajectory/sample.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import type { ReportRow } from "../../view/results-files.ts";

/** A record to show: a trajectory, alone or with its origin, or a pair. */
export type TraceRecord =
  | { kind: "trajectory"; id: string; trajectory: Trajectory; asked: Asked | null }
  | {
      kind: "sample";
      id: string;
      task: Task;
      candidate: Candidate;
      /** In dropped.jsonl: the step that dropped it, and the reason. */
      dropped?: { by: string; reason: string };
    }
  | { kind: "pair"; id: string; pair: PreferencePair };

/** The question, if a row beside the trajectory has it. */
export type Asked = Pick<Task, "question" | "references">;

/** The selection of a record. */
export type Wanted = { id: string } | { index: number };

/**
 * Finds a record of a file of trajectories, samples, draws or pairs.
 * @throws {DataError} TRACE_NOT_FOUND with some existing ids; DATA_BAD_RECORD for a line that is none of these.
 */
export async function findRecord(file: string, wanted: Wanted): Promise<TraceRecord> {
  const first: string[] = [];
  let count = 0;
  for await (const { value, line } of readJsonl(file, { tolerateCutEnd: true })) {
    for (const record of recordsOf(value, `${file}:${line}`)) {
      const isWanted = "id" in wanted ? record.id === wanted.id : count === wanted.index;
      if (isWanted) return record.kind === "trajectory" ? withQuestion(record, file) : record;
      if (count < 3) first.push(record.id);
      count += 1;
    }
  }
  const what = "id" in wanted ? `the id ${JSON.stringify(wanted.id)}` : `number ${wanted.index}`;
  const found =
    count === 0
      ? "The file is empty."
      : `It has ${plural(count, "record")}, numbered from 0; the first ids are ${first.map((id) => JSON.stringify(id)).join(", ")}. Choose by --id or --index.`;
  throw new DataError("TRACE_NOT_FOUND", `${file}: has no record with ${what}. ${found}`);
}

function recordsOf(value: unknown, where: string): TraceRecord[] {
  const has = (key: string): boolean => typeof value === "object" && value !== null && key in value;
  if (has("chosen") && has("rejected")) {
    const pair = value as PreferencePair;
    return [{ kind: "pair", id: pair.id, pair }];
  }
  if (has("candidates")) {
    const { task, candidates } = value as { task: Task; candidates: Candidate[] };
    return candidates.map((candidate) => ({ kind: "sample", id: candidate.id, task, candidate }));
  }
  if (has("trajectory")) {
    const { task, dropped, ...candidate } = value as Candidate & {
      task: Task;
      dropped?: { by: string; reason: string };
    };
    const why = dropped === undefined ? {} : { dropped };
    return [{ kind: "sample", id: candidate.id, task, candidate, ...why }];
  }
  if (has("calls") && has("turns")) {
    const trajectory = value as Trajectory;
    return [{ kind: "trajectory", id: trajectory.id, trajectory, asked: null }];
  }
  throw new DataError(
    "DATA_BAD_RECORD",
    `${where}: is no trajectory, sample, question's draws or pair. Name a file of these; \`agentrl trace lint\` says what a line lacks.`,
  );
}

/** An evaluation's questions are in its rows. */
async function withQuestion(
  record: Extract<TraceRecord, { kind: "trajectory" }>,
  file: string,
): Promise<TraceRecord> {
  const rows = join(dirname(file), "rows.jsonl");
  if (!existsSync(rows)) return record;
  for await (const { value } of readJsonl(rows, { tolerateCutEnd: true })) {
    const { id, sample, question, references } = value as ReportRow;
    if (`${id}/${sample}` === record.id) return { ...record, asked: { question, references } };
  }
  return record;
}

import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { writeAtomic, writeJson } from "../../base/files.ts";
import { openJsonl, readJsonl } from "../../base/jsonl.ts";
import { shortHash } from "../fingerprint.ts";
import type { AnswerToJudge, JudgedRow } from "./judged-row.ts";

/** Verdicts on disk, appended as they come, so that an interrupted run can be resumed. */
export interface VerdictLog {
  readonly kept: number;
  /** A kept row; undefined if it is missing, or a request failed and is retried. */
  known(answer: AnswerToJudge): JudgedRow | undefined;
  append(row: JudgedRow): Promise<void>;
  /** Sorts the rows, removes those of other answers, and writes `judge.json`. */
  finish(rows: readonly JudgedRow[], results: unknown): Promise<void>;
  close(): Promise<void>;
}

interface LoggedRow extends JudgedRow {
  key: string;
}

const VERDICTS_FILE = "verdicts.jsonl";
/** The summary, in the same folder. */
export const RESULTS_FILE = "judge.json";

/**
 * Opens `verdicts.jsonl` in a folder. @param options.identity hash of all that a verdict depends on beside the answer.
 * @throws {ConfigError} EVALUATION_EXISTS for rows without `resume`, or of another judge. @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function openVerdictLog(
  folder: string,
  { identity, resume }: { identity: string; resume: boolean },
): Promise<VerdictLog> {
  checkVerdictFolder(folder, resume);
  const path = join(folder, VERDICTS_FILE);
  const kept = existsSync(path) ? await readRows(path, identity) : new Map<string, LoggedRow>();
  const keyOf = ({ id, sample, question, references, prediction }: AnswerToJudge): string =>
    `${identity}-${shortHash([id, sample, question, references, prediction])}`;
  const line = (row: JudgedRow): LoggedRow => ({ key: keyOf(row), ...row });
  // Written again without a half-written line, before the first append.
  await writeLines(path, kept.values());
  const log = await openJsonl(path);
  return {
    kept: [...kept.values()].filter(isDone).length,
    known(answer) {
      const logged = kept.get(keyOf(answer));
      if (logged === undefined || !isDone(logged)) return undefined;
      const { key: _, ...row } = logged;
      return row;
    },
    append: (row) => log.append(line(row)),
    async finish(rows, results) {
      await writeLines(path, rows.map(line));
      await writeJson(join(folder, RESULTS_FILE), results);
    },
    close: () => log.close(),
  };
}

/** Refuses a folder that already has verdicts, before the first request. @throws {ConfigError} EVALUATION_EXISTS */
export function checkVerdictFolder(folder: string, resume: boolean): void {
  const path = join(folder, VERDICTS_FILE);
  if (resume || !existsSync(path)) return;
  const message = `${path}: exists already. Continue it with --resume, or choose another --out.`;
  throw new ConfigError("EVALUATION_EXISTS", message);
}

/** A failed request is retried; an unreadable verdict is the judge's reply and stays. */
function isDone({ problem }: JudgedRow): boolean {
  return problem?.message === undefined;
}

async function readRows(path: string, identity: string): Promise<Map<string, LoggedRow>> {
  const rows = new Map<string, LoggedRow>();
  for await (const { value, line } of readJsonl(path, { tolerateCutEnd: true })) {
    const row = value as LoggedRow;
    if (!String((value as Partial<LoggedRow> | null)?.key).startsWith(`${identity}-`)) {
      const message = `${path}:${line}: was judged by another model, prompt or setting, and rows must not be mixed. Choose another --out.`;
      throw new ConfigError("EVALUATION_EXISTS", message);
    }
    rows.set(row.key, row);
  }
  return rows;
}

async function writeLines(path: string, rows: Iterable<LoggedRow>): Promise<void> {
  await writeAtomic(path, async (write) => {
    for (const row of rows) await write(`${JSON.stringify(row)}\n`);
  });
}

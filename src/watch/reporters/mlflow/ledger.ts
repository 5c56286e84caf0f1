import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "../../../base/files.ts";
import { readJsonl } from "../../../base/jsonl.ts";
import { z } from "../../../base/schema.ts";
import type { RunStart } from "../reporter.ts";
import { digestOf, subjectOf, type Told } from "../told.ts";

/**
 * What a run folder knows of its run on an MLflow server, in `reporters/mlflow.jsonl`: which run it is, and what the server has been
 * told. MLflow keeps every value it is given, so a resumed run that comes to the same figures again does not tell them again.
 */
export interface Ledger {
  /** Stands in a tag of the run, so that a run whose id was lost on the way is found again. */
  readonly token: string;
  /** Null: not known to be made. */
  readonly runId: string | null;
  /** A run of an earlier beginning in this folder that never said how it ended. */
  readonly abandoned: string | null;
  made(runId: string): Promise<void>;
  has(subject: string, digest: string): boolean;
  /** These have been told. */
  add(told: readonly Told[]): Promise<void>;
}

const lineSchema = z.union([
  z.object({ url: z.string(), token: z.string() }),
  z.object({ runId: z.string() }),
  z.object({ told: z.string(), digest: z.string() }),
  z.object({ ended: z.string() }),
]);

/** What a ledger's file says. */
interface Account {
  url: string | null;
  token: string;
  runId: string | null;
  ended: boolean;
  told: Map<string, string>;
}

/**
 * Goes on with the ledger of a run that goes on; a run that begins has a new one.
 * @param url of the server: a run on another is another.
 * @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function openLedger(start: RunStart, url: string): Promise<Ledger> {
  const path = join(start.out, "reporters", "mlflow.jsonl");
  const before = await accountIn(path, start.afterStep);
  const isHere = before.url === url;
  const goesOn = isHere && start.afterStep > 0;
  const token = goesOn ? before.token : randomUUID();
  const told = goesOn ? before.told : new Map<string, string>();
  let runId = goesOn ? before.runId : null;
  if (!goesOn) await writeFileAtomic(path, `${JSON.stringify({ url, token })}\n`);
  // A line that cannot be written is told again when the run is resumed, no worse.
  const append = (lines: readonly object[]): Promise<void> =>
    appendFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join("")).catch(
      () => undefined,
    );
  return {
    token,
    abandoned: isHere && !goesOn && !before.ended ? before.runId : null,
    get runId() {
      return runId;
    },
    async made(id) {
      runId = id;
      await append([{ runId: id }]);
    },
    has: (subject, digest) => told.get(subject) === digest,
    async add(items) {
      const lines = items.map((each) => {
        if (each.kind === "end") return { ended: each.outcome };
        const [subject, digest] = [subjectOf(each), digestOf(each)];
        told.set(subject, digest);
        return { told: subject, digest };
      });
      await append(lines);
    },
  };
}

/** Steps up to `afterStep` are not told again, so they need not be known. */
async function accountIn(path: string, afterStep: number): Promise<Account> {
  const account: Account = { url: null, token: "", runId: null, ended: false, told: new Map() };
  if (!existsSync(path)) return account;
  for await (const { value } of readJsonl(path, { onBadLine: () => undefined })) {
    const line = lineSchema.safeParse(value).data;
    if (line === undefined) continue;
    if ("url" in line) Object.assign(account, line);
    else if ("runId" in line) account.runId = line.runId;
    else if ("ended" in line) account.ended = true;
    else if ("told" in line && !isStepUpTo(line.told, afterStep))
      account.told.set(line.told, line.digest);
  }
  return account;
}

function isStepUpTo(subject: string, step: number): boolean {
  const number = /^step\/(\d+)$/.exec(subject)?.[1];
  return number !== undefined && Number(number) <= step;
}

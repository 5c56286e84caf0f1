import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "../../../base/files.ts";
import { readJsonl } from "../../../base/jsonl.ts";
import { z } from "../../../base/schema.ts";
import { digestOf, type Figures, subjectOf, type ReporterEvent } from "../reporter-event.ts";
import type { RunStart } from "../reporter.ts";

/**
 * The run folder's record of its MLflow run, in `reporters/mlflow.jsonl`: the run's id, and what was sent. MLflow stores a value
 * twice unless value and time are equal, so a resumed run with the same metrics skips what arrived, and sends what may have arrived
 * exactly as it sent it before.
 */
export interface Ledger {
  /** Tag of the run: finds the run if the reply with its id was lost. */
  readonly token: string;
  /** Null: not created, as far as known. */
  readonly runId: string | null;
  /** An earlier run of this folder that never logged its end. */
  readonly abandoned: string | null;
  made(runId: string): Promise<void>;
  /** Records that the batch is about to be sent. @returns the events that must be sent. */
  begin(batch: readonly ReporterEvent[]): Promise<ReporterEvent[]>;
  /** Records that the server has the batch. */
  done(batch: readonly ReporterEvent[]): Promise<void>;
}

const lineSchema = z.union([
  z.object({ url: z.string(), token: z.string() }),
  z.object({ runId: z.string() }),
  z.object({
    telling: z.string(),
    digest: z.string(),
    at: z.number(),
    timing: z.record(z.string(), z.number()).optional(),
  }),
  z.object({ told: z.string() }),
  z.object({ ended: z.string() }),
]);

interface Account {
  url: string | null;
  token: string;
  runId: string | null;
  ended: boolean;
  /** Events sent before, by subject. */
  begun: Map<string, Begun>;
}

/** An event that may have been sent. */
interface Begun {
  digest: string;
  at: number;
  /** A step's timings: a repeated step has other timings. */
  timing?: Figures | undefined;
  hasArrived: boolean;
}

/**
 * Opens the ledger of a resumed run, or a new one.
 * @param url of the server: another server has another run.
 * @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function openLedger(start: RunStart, url: string): Promise<Ledger> {
  const path = join(start.out, "reporters", "mlflow.jsonl");
  const before = await accountIn(path, start.afterStep);
  const isHere = before.url === url;
  const goesOn = isHere && start.afterStep > 0;
  const token = goesOn ? before.token : randomUUID();
  const begun = goesOn ? before.begun : new Map<string, Begun>();
  let runId = goesOn ? before.runId : null;
  if (!goesOn) await writeFileAtomic(path, `${JSON.stringify({ url, token })}\n`);
  // If a line cannot be written, the resumed run only sends it again.
  const append = async (lines: readonly object[]): Promise<void> => {
    if (lines.length === 0) return;
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    await appendFile(path, text).catch(() => undefined);
  };
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
    async begin(batch) {
      const left: ReporterEvent[] = [];
      const lines: object[] = [];
      for (const each of batch) {
        if (each.kind === "end") {
          left.push(each);
          continue;
        }
        const [subject, digest] = [subjectOf(each), digestOf(each)];
        const known = begun.get(subject);
        if (known?.digest === digest) {
          if (!known.hasArrived) left.push(asBegun(each, known));
          continue;
        }
        const { at } = each;
        const timing = each.kind === "step" ? each.timing : undefined;
        begun.set(subject, { digest, at, timing, hasArrived: false });
        lines.push({ telling: subject, digest, at, timing });
        left.push(each);
      }
      // Written before sending: if the run is killed in between, the resumed run finds them here.
      await append(lines);
      return left;
    },
    async done(batch) {
      const lines = batch.map((each) => {
        if (each.kind === "end") return { ended: each.outcome };
        const subject = subjectOf(each);
        begun.delete(subject); // the same subject once more in this process is a new event
        return { told: subject };
      });
      await append(lines);
    },
  };
}

/** The event as it was sent before: with another time the server would store a second value. */
function asBegun(event: ReporterEvent, { at, timing }: Begun): ReporterEvent {
  return event.kind === "step"
    ? { ...event, at, timing: timing ?? event.timing }
    : { ...event, at };
}

/** Reads a ledger. Steps up to `afterStep` are not sent again, so they are left out. */
async function accountIn(path: string, afterStep: number): Promise<Account> {
  const account: Account = { url: null, token: "", runId: null, ended: false, begun: new Map() };
  if (!existsSync(path)) return account;
  for await (const { value } of readJsonl(path, { onBadLine: () => undefined })) {
    const line = lineSchema.safeParse(value).data;
    if (line === undefined) continue;
    if ("url" in line) Object.assign(account, line);
    else if ("runId" in line) account.runId = line.runId;
    else if ("ended" in line) account.ended = true;
    else if ("telling" in line) {
      const { telling, ...begun } = line;
      if (!isStepUpTo(telling, afterStep))
        account.begun.set(telling, { ...begun, hasArrived: false });
    } else {
      const begun = account.begun.get(line.told);
      if (begun !== undefined) begun.hasArrived = true;
    }
  }
  return account;
}

function isStepUpTo(subject: string, step: number): boolean {
  const number = /^step\/(\d+)$/.exec(subject)?.[1];
  return number !== undefined && Number(number) <= step;
}

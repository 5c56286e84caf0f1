import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "../../../base/files.ts";
import { readJsonl } from "../../../base/jsonl.ts";
import { z } from "../../../base/schema.ts";
import type { RunStart } from "../reporter.ts";
import { digestOf, type Figures, subjectOf, type Told } from "../told.ts";

/**
 * What a run folder knows of its run on an MLflow server, in `reporters/mlflow.jsonl`: which run it is, and what the server has been
 * told. MLflow keeps every value it is given, unless it is the same at the same time: a resumed run that comes to the same figures
 * does not tell again what arrived, and tells what may have arrived exactly as it was told before.
 */
export interface Ledger {
  /** Stands in a tag of the run, so that a run whose id was lost on the way is found again. */
  readonly token: string;
  /** Null: not known to be made. */
  readonly runId: string | null;
  /** A run of an earlier beginning in this folder that never said how it ended. */
  readonly abandoned: string | null;
  made(runId: string): Promise<void>;
  /** These are about to be told. @returns what is left to tell of them, and how. */
  begin(told: readonly Told[]): Promise<Told[]>;
  /** The server has these. */
  done(told: readonly Told[]): Promise<void>;
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

/** What a ledger's file says. */
interface Account {
  url: string | null;
  token: string;
  runId: string | null;
  ended: boolean;
  /** Things told before, by subject. */
  begun: Map<string, Begun>;
}

/** Something that was about to be told. */
interface Begun {
  digest: string;
  at: number;
  /** Of a step: a step that is done again has others. */
  timing?: Figures | undefined;
  hasArrived: boolean;
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
  const begun = goesOn ? before.begun : new Map<string, Begun>();
  let runId = goesOn ? before.runId : null;
  if (!goesOn) await writeFileAtomic(path, `${JSON.stringify({ url, token })}\n`);
  // A line that cannot be written is told again when the run is resumed, no worse.
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
    async begin(told) {
      const left: Told[] = [];
      const lines: object[] = [];
      for (const each of told) {
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
      // Before they are sent: whoever is killed in between finds them here.
      await append(lines);
      return left;
    },
    async done(told) {
      const lines = told.map((each) => {
        if (each.kind === "end") return { ended: each.outcome };
        const subject = subjectOf(each);
        begun.delete(subject); // what is told once more in this process is something new
        return { told: subject };
      });
      await append(lines);
    },
  };
}

/** As it was told before: with other times it would be another value to the server. */
function asBegun(told: Told, { at, timing }: Begun): Told {
  return told.kind === "step" ? { ...told, at, timing: timing ?? told.timing } : { ...told, at };
}

/** Steps up to `afterStep` are not told again, so they need not be known. */
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

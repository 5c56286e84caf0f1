import { readdir, rm, open, type FileHandle } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { errorMessage } from "../../../base/errors.ts";
import { makeFolder } from "../../../base/files.ts";
import { z } from "../../../base/schema.ts";
import { queuedReporter, queueShape, type ReporterBackend } from "../delivery.ts";
import { namedFigures, settingText, type ReporterEvent } from "../reporter-event.ts";
import { defineReporter, type RunStart } from "../reporter.ts";
import * as events from "./events.ts";
import { tfRecord } from "./events.ts";

const NAME = "tensorboard";

const options = z.strictObject(queueShape);

/** Event files in the run folder's `tensorboard/`: `tensorboard --logdir runs` shows every run below it. */
export const tensorboard = defineReporter({
  name: NAME,
  summary: "Event files for TensorBoard, in the run folder's tensorboard/.",
  options,
  open({ maxQueued, closeMs }, start, onTrouble) {
    return queuedReporter(tensorboardBackend(start, Date.now()), {
      maxQueued,
      closeMs,
      intervalMs: 0,
      onTrouble,
    });
  },
});

/**
 * Writes the events of a run to a file of its own. A resumed run starts another file, whose first record purges later steps of
 * older files; a new run in an old folder removes them.
 *
 * @param now start of the file, Unix time in milliseconds.
 */
export function tensorboardBackend(start: RunStart, now: number): ReporterBackend {
  const folder = join(start.out, "tensorboard");
  const records = recordsOf(start);
  let file: AppendedFile | null = null;
  return {
    name: NAME,
    batchSize: (waiting) => waiting.length,
    async send(batch) {
      try {
        file ??= await beginFile(folder, start, now);
        const head = file.bytes === 0 ? opening(start, now) : Buffer.alloc(0);
        await file.append(Buffer.concat([head, ...records.of(batch)]));
        records.done(batch);
      } catch (error) {
        throw new Error(`${NAME}: ${folder} cannot be written to (${errorMessage(error)}).`, {
          cause: error,
        });
      }
    },
    close: async () => file?.close(),
  };
}

function opening(start: RunStart, at: number): Buffer {
  const { afterStep, settings, out } = start;
  // The steps after a checkpoint are written again; before the first step there is nothing to keep.
  const restart = { at, step: afterStep === 0 ? 0 : afterStep + 1 };
  const time = { at, step: afterStep };
  return Buffer.concat(
    [
      events.versionEvent({ at, step: 0 }),
      events.startEvent(restart),
      events.textEvent(time, "settings", settingsTable(start)),
      events.settingsEvent(time, basename(resolve(out)), settings),
    ].map(tfRecord),
  );
}

function recordsOf(start: RunStart): {
  of(batch: readonly ReporterEvent[]): Buffer[];
  /** These have been written. */
  done(batch: readonly ReporterEvent[]): void;
} {
  let written = start.afterStep;
  const notes: Note[] = [];
  return {
    of(batch) {
      let step = written;
      const notesSoFar = [...notes];
      const taken = batch.flatMap((each) => {
        if (each.kind === "end") return endOf(each, step);
        if (each.kind === "event") {
          notesSoFar.push(each);
          return [noteOf(each)];
        }
        if (each.kind === "evaluation" && each.step < start.afterStep) return []; // an older file has it
        const time = { at: each.at, step: each.step };
        const scalars = events.scalarsEvent(time, namedFigures(each));
        if (each.kind === "evaluation") return [scalars];
        const isBack = each.step <= step;
        step = each.step;
        if (!isBack) return [scalars];
        // A rollback purges later steps, but the events that explain it stay.
        const kept = notesSoFar.filter(({ event }) => event.step >= each.step);
        return [events.startEvent(time), ...kept.map(noteOf), scalars];
      });
      return taken.map(tfRecord);
    },
    done(batch) {
      for (const each of batch) {
        if (each.kind === "step") written = each.step;
        if (each.kind === "event") notes.push(each);
      }
      notes.splice(0, Math.max(0, notes.length - MOST_NOTES));
    },
  };
}

type Note = Extract<ReporterEvent, { kind: "event" }>;

/** Most events that are written again after a rollback. */
const MOST_NOTES = 100;

function noteOf({ at, event: { step, kind, message } }: Note): Buffer {
  return events.textEvent({ at, step }, `events/${kind}`, message);
}

/** An interrupted run may be resumed, so its end is not written. */
function endOf({ at, outcome }: Extract<ReporterEvent, { kind: "end" }>, step: number): Buffer[] {
  return outcome === "interrupted" ? [] : [events.endEvent({ at, step }, outcome === "finished")];
}

function settingsTable({ recipe, tier, version, settings }: RunStart): string {
  const rows = Object.entries({ recipe, tier, agentrl: version, ...settings }).map(
    ([key, value]) => `| ${key} | ${tableCell(settingText(value))} |`,
  );
  return ["| setting | value |", "|---|---|", ...rows].join("\n");
}

function tableCell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/g, " ");
}

const OURS = /^events\.out\.tfevents\.(\d+)\.agentrl\.\d+$/;

/**
 * Readers take the files of a folder in the order of their names and do not come back to one, so
 * the new name sorts last even if the clock went back.
 */
async function beginFile(folder: string, start: RunStart, now: number): Promise<AppendedFile> {
  await makeFolder(folder);
  const older = (await readdir(folder)).filter((name) => OURS.test(name));
  const seconds = older.map((name) => Number(OURS.exec(name)?.[1]));
  const second = Math.max(Math.floor(now / 1000), ...seconds.map((each) => each + 1));
  if (start.afterStep === 0) for (const name of older) await rm(join(folder, name));
  const name = `events.out.tfevents.${String(second).padStart(10, "0")}.agentrl.${process.pid}`;
  return AppendedFile.create(join(folder, name));
}

/** A file with a known end, so that a retry overwrites half a record. */
class AppendedFile {
  readonly #file: FileHandle;
  #bytes = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Makes the file, which must not exist. */
  static async create(path: string): Promise<AppendedFile> {
    return new AppendedFile(await open(path, "wx"));
  }

  get bytes(): number {
    return this.#bytes;
  }

  async append(content: Buffer): Promise<void> {
    for (let done = 0; done < content.length;) {
      const { bytesWritten } = await this.#file.write(
        content,
        done,
        content.length - done,
        this.#bytes + done,
      );
      done += bytesWritten;
    }
    this.#bytes += content.length;
  }

  /** Drops everything from that byte on. */
  async cut(bytes: number): Promise<void> {
    if (bytes >= this.#bytes) return;
    await this.#file.truncate(bytes);
    this.#bytes = bytes;
  }

  async close(): Promise<void> {
    await this.#file.truncate(this.#bytes).catch(() => undefined);
    await this.#file.close();
  }
}

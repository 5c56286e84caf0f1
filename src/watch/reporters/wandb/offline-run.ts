import { join } from "node:path";
import { makeFolder } from "../../../base/files.ts";
import { AppendedFile } from "../appended-file.ts";
import { ALERT_LEVELS, namedFigures, type ReporterEvent } from "../reporter-event.ts";
import type { RunStart } from "../reporter.ts";
import * as records from "./records.ts";

export type { RunNames } from "./records.ts";

type Numbered = (num: number) => Buffer;

/** A row of the history: where it begins in the file, and how many records are before it. */
interface Row {
  bytes: number;
  count: number;
  step: number;
}

/** Most alerts that are written again after a rollback. */
const MOST_ALERTS = 100;

/** The file of one offline run. A row's step is above those of all rows before it, as W&B demands. */
export class OfflineRun {
  readonly #file: AppendedFile;
  readonly #opening: readonly Numbered[];
  readonly #startedAt: number;
  /** Steps up to this one are in an older file of the run. */
  readonly #afterStep: number;
  /** Records in the file. */
  #count = 0;
  #rows: Row[] = [];
  /** Figures of the last row. */
  #figures: Readonly<Record<string, number>> = {};
  /** Alerts, with the number of rows before each. */
  #alerts: { rows: number; record: Numbered }[] = [];

  private constructor(file: AppendedFile, start: RunStart, run: records.RunNames, at: number) {
    const { recipe, tier, version, settings, afterStep } = start;
    const config = { recipe, tier, agentrl: version, ...settings };
    this.#file = file;
    this.#startedAt = at;
    this.#afterStep = afterStep;
    this.#opening = [
      (num) => records.headerRecord(num, version),
      (num) => records.runRecord(num, { ...run, isResumed: afterStep > 0, config, at }),
    ];
  }

  /** @param at start, Unix time in milliseconds. */
  static async create(
    folder: string,
    start: RunStart,
    run: records.RunNames,
    at: number,
  ): Promise<OfflineRun> {
    const time = new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "_");
    const own = join(folder, `offline-run-${time}-${run.id}`);
    // `wandb sync` writes the settings and the summary that it uploads there.
    await makeFolder(join(own, "files"));
    const file = await AppendedFile.create(join(own, `run-${run.id}.wandb`));
    return new OfflineRun(file, start, run, at);
  }

  /** Writes the whole event or throws; then it may be written again. */
  async write(event: ReporterEvent): Promise<void> {
    if (this.#count === 0) await this.#append(this.#opening);
    if (event.kind === "event") await this.#writeAlert(event);
    else if (event.kind === "end") await this.#writeEnd(event);
    else await this.#writeRow(event);
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  /**
   * An evaluation after a step joins the step's row. A rollback removes the rows of the steps that are repeated, but not the alerts
   * that explain it.
   */
  async #writeRow(event: Extract<ReporterEvent, { kind: "step" | "evaluation" }>): Promise<void> {
    const { kind, step, at } = event;
    const last = this.#rows.at(-1)?.step;
    if (kind === "evaluation" && step < (last ?? this.#afterStep)) return; // an older file has it
    const joins = kind === "evaluation" && step === last;
    const figures = { ...(joins ? this.#figures : {}), ...namedFigures(event) };
    const values = { ...figures, _timestamp: at / 1000, _runtime: this.#seconds(at), _step: step };
    const rows = this.#rows.filter((row) => row.step < step);
    const removed = this.#rows[rows.length];
    const place = removed ?? { bytes: this.#file.bytes, count: this.#count };
    const alerts = this.#alerts.map((alert) =>
      alert.rows > rows.length ? { ...alert, rows: rows.length + 1 } : alert,
    );
    const repeated = alerts.filter((alert) => alert.rows > rows.length);
    if (removed !== undefined) await this.#file.cut(place.bytes);
    this.#count = place.count;
    await this.#append([
      (num) => records.historyRecord(num, step, values),
      (num) => records.summaryRecord(num, values),
      ...repeated.map(({ record }) => record),
    ]);
    this.#rows = [...rows, { bytes: place.bytes, count: place.count, step }];
    this.#figures = figures;
    this.#alerts = alerts;
  }

  async #writeAlert({ event }: Extract<ReporterEvent, { kind: "event" }>): Promise<void> {
    const { kind, step, message } = event;
    const text = `step ${step}: ${message}`;
    const record: Numbered = (num) => records.alertRecord(num, kind, text, ALERT_LEVELS[kind]);
    await this.#append([record]);
    this.#alerts = [...this.#alerts, { rows: this.#rows.length, record }].slice(-MOST_ALERTS);
  }

  async #writeEnd({ at, outcome }: Extract<ReporterEvent, { kind: "end" }>): Promise<void> {
    const seconds = Math.round(this.#seconds(at));
    await this.#append([
      (num) => records.exitRecord(num, EXIT_CODES[outcome], seconds),
      (num) => records.finalRecord(num),
    ]);
  }

  #seconds(at: number): number {
    return Math.max(0, at - this.#startedAt) / 1000;
  }

  async #append(numbered: readonly Numbered[]): Promise<void> {
    const head = this.#count === 0 ? records.FILE_HEADER : Buffer.alloc(0);
    let offset = this.#file.bytes + head.length;
    const frames = numbered.map((record, index) => {
      const frame = records.framed(record(this.#count + index + 1), offset);
      offset += frame.length;
      return frame;
    });
    await this.#file.append(Buffer.concat([head, ...frames]));
    this.#count += numbered.length;
  }
}

/** W&B shows every code but 0 as failed; 130 is that of an interrupted process. */
const EXIT_CODES = { finished: 0, interrupted: 130, failed: 1 } as const;

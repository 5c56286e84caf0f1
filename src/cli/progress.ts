import { type Options, type Params, Presets, SingleBar } from "cli-progress";
import { formatDuration } from "../base/format.ts";
import { visibleLine } from "../base/visible-text.ts";
import type { CliContext } from "./command.ts";
import { holdTerminal, isHeld } from "./held-terminal.ts";

/** Shows the progress of some work: a bar on a terminal, a line every 10 s in a pipe or log, nothing under --quiet. */
export interface Progress {
  /** @param done units done so far. @param status short text behind the bar; stays until the next one. */
  update(done: number, status?: string): void;
  /** Erases the bar; permanent output belongs in `context.note`. */
  readonly stop: () => void;
}

/** The work and its units. */
export interface ProgressOptions {
  /** At most about 20 characters: `indexing`. */
  label: string;
  /** 0 if unknown: a count without a bar. */
  total: number;
  /** Plural name of the units: `passages`. */
  unit: string;
}

const BAR_WIDTH = 20;
const SAVE_CURSOR = "\u001b7";
const CLEAR_LINE = "\r\u001b[K";

/** Starts a bar on stderr; one at a time. Stop it in a `finally`. */
export function startProgress(context: CliContext, options: ProgressOptions): Progress {
  if (isHeld()) return { update: () => undefined, stop: () => undefined };
  if (!context.terminal) return progressLines(context, options);
  const bar = new SingleBar(
    {
      format: (settings, params, payload) =>
        cut(lineOf(options, settings, params, (payload as { status: string }).status)),
      stream: process.stderr,
      clearOnComplete: true,
      // Cursor and line wrapping are not changed, so a killed process leaves a usable terminal.
      hideCursor: false,
      linewrap: true,
      gracefulExit: false,
      // Lines written around the bar wipe it out, so an unchanged one must be drawn again.
      forceRedraw: true,
      etaBuffer: 50,
      fps: 8,
    },
    Presets.shades_classic,
  );
  bar.start(options.total, 0, { status: "" });
  const release = holdTerminal((write) => {
    process.stderr.write(CLEAR_LINE);
    write();
    // Erasing the bar returns to the saved position.
    process.stderr.write(SAVE_CURSOR);
    bar.render();
  });
  return {
    update(done, status) {
      bar.update(done, status === undefined ? {} : { status });
    },
    stop() {
      release();
      bar.stop();
    },
  };
}

/** Milliseconds between two lines of a log. */
const LINE_EVERY = 10_000;

function progressLines(context: CliContext, { label, total, unit }: ProgressOptions): Progress {
  const began = performance.now();
  let next = began + LINE_EVERY;
  let shownStatus = "";
  // A resumed work does not begin at 0.
  let first: number | null = null;
  return {
    update(done, status = shownStatus) {
      shownStatus = status;
      first ??= done;
      const now = performance.now();
      if (now < next) return;
      next = now + LINE_EVERY;
      const seconds = (now - began) / 1000;
      const count = total === 0 ? `${done}` : `${done}/${total}`;
      const left =
        total > 0 && done > first
          ? `, ${formatDuration((seconds * (total - done)) / (done - first))} left`
          : "";
      const text = `${label} ${count} ${unit}, ${formatDuration(seconds)}${left}  ${status}`;
      context.note(text.trimEnd());
    },
    stop: () => undefined,
  };
}

function lineOf(
  { label, total, unit }: ProgressOptions,
  settings: Options,
  { progress, value, eta }: Params,
  status: string,
): string {
  if (total === 0) return `${label} ${value} ${unit}  ${status}`;
  const filled = Math.round(Math.min(progress, 1) * BAR_WIDTH);
  const bar =
    (settings.barCompleteString ?? "").slice(0, filled) +
    (settings.barIncompleteString ?? "").slice(0, BAR_WIDTH - filled);
  const left = Number.isFinite(eta) && value > 0 ? `, ${formatDuration(eta)} left` : "";
  return `${label} ${bar} ${value}/${total} ${unit}${left}  ${status}`;
}

/** A bar that wraps cannot be overwritten. */
function cut(line: string): string {
  return visibleLine(line).slice(0, Math.max(process.stderr.columns - 1, 20));
}

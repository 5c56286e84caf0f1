import { Presets, SingleBar } from "cli-progress";
import type { CliContext } from "./command.ts";

/** Shows how far a piece of work is: a bar on a terminal, nothing in a pipe or under --quiet. */
export interface Progress {
  /**
   * @param done units done so far.
   * @param status short text behind the bar; stays until the next one.
   */
  update(done: number, status?: string): void;
  /** Takes the bar away: what is worth keeping belongs in `context.note`. */
  stop(): void;
}

/**
 * Starts a bar on stderr. Stop it in a `finally`.
 *
 * @param label what is being done, at most about 20 characters: `indexing`.
 * @param total units; 0 when unknown, which counts without a bar.
 * @param unit plural name of what is counted: `passages`.
 */
export function startProgress(
  context: CliContext,
  { label, total, unit }: { label: string; total: number; unit: string },
): Progress {
  if (!context.terminal) return { update: () => undefined, stop: () => undefined };
  const counted =
    total === 0 ? `{value} ${unit}` : `{bar} {value}/{total} ${unit}, {eta_formatted} left`;
  const bar = new SingleBar(
    {
      format: `${label} ${counted} {status}`,
      barsize: 24,
      stream: process.stderr,
      clearOnComplete: true,
      // The cursor stays visible: nothing needs mending when a second Ctrl-C kills the process.
      hideCursor: false,
      gracefulExit: false,
      etaBuffer: 50,
      fps: 8,
    },
    Presets.shades_classic,
  );
  bar.start(total, 0, { status: "" });
  return {
    update(done, status) {
      bar.update(done, status === undefined ? {} : { status });
    },
    stop() {
      bar.stop();
    },
  };
}

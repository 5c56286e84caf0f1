import { readRunCheckpoints, type RunCheckpoint } from "./run-sizes.ts";
import type { LoggedEvent } from "./run-events.ts";
import type { RunFiles } from "./run-files.ts";
import { isOverride } from "./run-settings.ts";
import { summaryOf, type RunSummary } from "./run-summary.ts";

/** Summary and details of a run. */
export interface RunDetail extends RunSummary {
  /** agentrl that made it. */
  version: string | null;
  hashes: Readonly<Record<string, unknown>>;
  machine: Readonly<Record<string, unknown>>;
  /** Every setting by dotted key. */
  settings: { key: string; value: unknown; origin: string | null; overrides: boolean }[];
  /** Metrics of the last written step; null before the first. */
  last: { step: number; values: Readonly<Record<string, number>> } | null;
  evaluations: Omit<RunFiles["evaluations"][number], "rows">[];
  checkpoints: RunCheckpoint[];
  events: LoggedEvent[];
  /** The command that continues or evaluates the run; null if unknown. */
  next: { command: string; does: string } | null;
}

/** Reads the details of a run. */
export async function detailOf(run: RunFiles): Promise<RunDetail> {
  const { manifest, settings, metrics, evaluations, sets, events } = run;
  const summary = await summaryOf(run);
  return {
    ...summary,
    version: manifest.agentrl ?? null,
    hashes: manifest.hashes,
    machine: manifest.machine,
    settings: [...(settings?.values ?? [])].map(([key, value]) => {
      const origin = settings?.origins.get(key) ?? null;
      return { key, value, origin, overrides: origin !== null && isOverride(origin) };
    }),
    last: metrics.at(-1) ?? null,
    evaluations: [...evaluations, ...sets].map(({ rows: _, ...own }) => own),
    checkpoints: await readRunCheckpoints(run.folder),
    events,
    next: nextCommand(run),
  };
}

function nextCommand({ folder, kind, state, settings, evaluations }: RunFiles): RunDetail["next"] {
  if (state.state === "running") return null;
  if (state.state === "finished") {
    if (kind !== "synth" && evaluations.length === 0) return null;
    return { command: `agentrl report ${quoted(folder)}`, does: "shows it as a page" };
  }
  if (settings === null) return null;
  return { command: `agentrl resume ${quoted(folder)}`, does: "continues it" };
}

/** Quotes a word for a shell. @example quoted("a b") // "'a b'" */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

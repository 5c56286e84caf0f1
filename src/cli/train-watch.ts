import type { RunControl } from "../run/folder/run-control.ts";
import type { ResolvedSettings } from "../run/settings/settings.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import type { CliContext } from "./command.ts";
import { trainLines, type TrainWatch } from "./train-lines.ts";
import { screenOf } from "./trace/screen.ts";

/** Options of showing a training. */
export interface WatchOptions {
  resolved: ResolvedSettings<Settings>;
  /** Run folder. */
  out: string;
  resume: boolean;
  control: RunControl;
  /** Lines on any terminal. */
  plain: boolean;
}

/**
 * Shows a training to people: a live view on a terminal, lines in a pipe, in CI, in the background, under --quiet and --plain, and if the
 * terminal is too small or cannot move its cursor. The drawing code is loaded only for the view.
 */
export async function watchTraining(
  context: CliContext,
  { resolved, out, resume, control, plain }: WatchOptions,
): Promise<TrainWatch> {
  const { LEAST } = await import("./dashboard/layout.ts");
  const { processSignals } = await import("./dashboard/terminal-signals.ts");
  const { columns, rows } = process.stderr;
  const suits =
    context.terminal &&
    !plain &&
    !isContinuousIntegration(process.env) &&
    columns >= LEAST.columns &&
    rows >= LEAST.rows &&
    processSignals.isForeground();
  const emMetric = `reward/${exactMatchName(resolved.settings)}`;
  if (!suits) return trainLines(context, emMetric);
  const { openDashboard } = await inProduction(() => import("./dashboard/open-dashboard.ts"));
  const { processClock } = await import("./dashboard/throttle.ts");
  const { readPast } = await import("./dashboard/follow-run.ts");
  const { recipe, tier, settings } = resolved;
  return openDashboard(context, {
    facts: { recipe: recipe.name, tier, seed: settings.seed, out, emMetric },
    control,
    colours: screenOf(process.stderr, process.env).colours,
    stream: process.stderr,
    keyboard: process.stdin,
    clock: processClock,
    signals: processSignals,
    readPast: () => readPast(out, resume),
    openTexts: async () => {
      const { openTraceTexts, findWords } = await import("./trace/trace-texts.ts");
      return (await openTraceTexts(null, await findWords(await policyHere(settings)))).textOf;
    },
  });
}

/** The name under which a run records exact match. */
function exactMatchName({ rewards }: Settings): string {
  return rewards.find(({ name }) => name === "exact-match")?.as ?? "exact-match";
}

/** The folder of the policy, which is on this machine once training runs. */
async function policyHere({ policy }: Settings): Promise<string> {
  const { policyFolder } = await import("../run/assemble.ts");
  const { hubSettings } = await import("../hub/hub-cache.ts");
  return policyFolder(policy.from, { settings: { ...hubSettings(), offline: true } });
}

/** A CI log is read later, so nothing may be overwritten in it. */
export function isContinuousIntegration(
  environment: Readonly<Record<string, string | undefined>>,
): boolean {
  return !["", "0", "false", undefined].includes(environment["CI"]);
}

/** React's development build is slower and records every frame. React reads this variable only when it is loaded. */
async function inProduction<T>(load: () => Promise<T>): Promise<T> {
  const before = process.env["NODE_ENV"];
  process.env["NODE_ENV"] = "production";
  try {
    return await load();
  } finally {
    if (before === undefined) delete process.env["NODE_ENV"];
    else process.env["NODE_ENV"] = before;
  }
}

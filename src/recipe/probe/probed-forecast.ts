import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { forecastMemory, type MemoryForecast } from "../../engine/local/forecast.ts";
import type { Clock } from "./engine-speed.ts";
import type { PlannedRun } from "../plan/plan.ts";
import { type Probe, probeRun } from "./probe.ts";
import { canBeDrawn, writeRandomModel } from "./random-model.ts";
import { forecastTime, type TimeForecast } from "./time-forecast.ts";

/** What a probe says of a run. */
export interface ProbedForecast {
  time: TimeForecast;
  /** At the peak, with sequences as long as they are expected: below what a plan allows for. */
  memory: MemoryForecast;
  /** What it looked at. */
  probe: Pick<Probe, "seconds" | "sampled" | "learns" | "speed"> & {
    /** Whether the policy's own weights ran, or random ones of its shape. */
    weights: "own" | "random";
    /** Processors wanted by all programs here, a minute's mean, before it began. */
    load: number;
  };
}

/**
 * Forecasts time and memory of a planned run by a probe of it (`probeRun`), in a temporary folder that is removed.
 *
 * @param options.load processors wanted before it.
 * @param options.clock the clock of the forecast; the wall clock when absent.
 * @returns why there is no forecast, where there is none.
 * @throws as `probeRun`.
 */
export async function probedForecast(
  run: PlannedRun,
  { signal, load, clock }: { signal: AbortSignal; load: number; clock?: Clock },
): Promise<ProbedForecast | { why: string }> {
  const why = notProbed(run);
  if (why !== null) return { why };
  const scratch = await mkdtemp(join(tmpdir(), "agentrl-probe-"));
  try {
    const drawn = run.model.folder === null;
    const model = run.model.folder ?? join(scratch, "model");
    if (drawn) await writeRandomModel(model, run.model.config);
    const options = { model, signal, scratch: join(scratch, "checkpoint"), drawn, load };
    const probe = await probeRun(run, { ...options, ...(clock === undefined ? {} : { clock }) });
    const time = forecastTime(run, probe);
    const rowTokens = Math.min(run.load.rowTokens, time.longest);
    const { seconds, sampled, learns, speed } = probe;
    return {
      time,
      memory: forecastMemory({ ...run.load, rowTokens, graphs: time.graphs }),
      probe: { seconds, sampled, learns, speed, load, weights: drawn ? "random" : "own" },
    };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Why a run is not probed; null where it is. */
function notProbed({ work, model }: PlannedRun): string | null {
  if (work.command === "sft") {
    return "supervised training is not probed: how long its trajectories are is not known before they are there";
  }
  if (work.steps === 0) return "there is no step to train";
  if (model.folder !== null || canBeDrawn(model.config)) return null;
  return `the weights of ${model.from} are not here, and a random model of its shape takes longer than a probe`;
}

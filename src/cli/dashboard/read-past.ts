import { join } from "node:path";
import { readJson } from "../../base/files.ts";
import { readRunEvaluations } from "../../view/runs/run-evaluations.ts";
import { readRunEvents } from "../../view/runs/run-events.ts";
import { readRunMetrics } from "../../view/runs/run-metrics.ts";
import type { RunEvent } from "../../watch/run-event.ts";
import type { RunPast } from "./follow-run.ts";

/**
 * Facts in the folder of a started run: the policy's device and, for a resumed run, its history.
 * @param resumed false: only the policy's device.
 */
export async function readPast(folder: string, resumed: boolean): Promise<RunPast> {
  const { machine } = (await readJson(join(folder, "manifest.json"))) as {
    machine?: { device?: string };
  };
  const device = machine?.device ?? null;
  if (!resumed) return { device, history: [], evaluations: [], events: [] };
  const metrics = await readRunMetrics(join(folder, "metrics.jsonl"));
  const { evaluations } = await readRunEvaluations(folder, Infinity);
  return {
    device,
    history: metrics.map(({ step, values }) => ({ step, metrics: values })),
    evaluations: evaluations.flatMap(({ name, n, metrics: { em = null } }) =>
      em === null ? [] : [{ name, em, n }],
    ),
    events: (await readRunEvents(folder)) as RunEvent[],
  };
}

import { randomUUID } from "node:crypto";
import { basename, join, resolve } from "node:path";
import { errorMessage } from "../../../base/errors.ts";
import { z } from "../../../base/schema.ts";
import { queuedReporter, queueShape, type ReporterBackend } from "../delivery.ts";
import { keptRunId } from "../kept-run-id.ts";
import { defineReporter, type RunStart } from "../reporter.ts";
import { environmentValue } from "../server.ts";
import { OfflineRun, type RunNames } from "./offline-run.ts";

const NAME = "wandb";

const options = z.strictObject({
  /** WANDB_PROJECT when absent, else the recipe's name. `wandb sync --project` overrides it. */
  project: z.string().min(1).optional(),
  /** The run folder's name when absent. */
  runName: z.string().min(1).optional(),
  ...queueShape,
});

/** An offline run of W&B in the run folder's `wandb/`: `wandb sync` uploads it. agentrl itself contacts no W&B server. */
export const wandb = defineReporter({
  name: NAME,
  summary: "Offline runs for W&B, in the run folder's wandb/; `wandb sync` uploads them.",
  options,
  async open(settings, start, onTrouble) {
    const { maxQueued, closeMs } = settings;
    const run = {
      id: await keptRunId(start, NAME, () => randomUUID().slice(0, 8)),
      project: settings.project ?? environmentValue("WANDB_PROJECT") ?? start.recipe,
      displayName: settings.runName ?? basename(resolve(start.out)),
    };
    const backend = wandbBackend(start, run, Date.now);
    return queuedReporter(backend, { maxQueued, closeMs, intervalMs: 0, onTrouble });
  },
});

/**
 * Writes each event at once, so that a killed run is readable up to its last event. A resumed run writes another offline run with
 * the same id, as W&B's own client does.
 */
export function wandbBackend(start: RunStart, run: RunNames, now: () => number): ReporterBackend {
  const folder = join(start.out, "wandb");
  let file: OfflineRun | null = null;
  return {
    name: NAME,
    // One by one: a batch that fails halfway would be written twice.
    batchSize: () => 1,
    async send(batch) {
      try {
        file ??= await OfflineRun.create(folder, start, run, now());
        for (const each of batch) await file.write(each);
      } catch (error) {
        throw new Error(`${NAME}: ${folder} cannot be written to (${errorMessage(error)}).`, {
          cause: error,
        });
      }
    },
    close: async () => file?.close(),
  };
}

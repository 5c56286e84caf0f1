import { partSchema } from "../../base/define-part.ts";
import { registry } from "../../base/registry.ts";
import { z } from "../../base/schema.ts";
import type { ReporterPart } from "./reporter.ts";

export const reporters = registry<ReporterPart>("reporter", {
  tensorboard: async () => (await import("./tensorboard/tensorboard.ts")).tensorboard,
  mlflow: async () => (await import("./mlflow/mlflow.ts")).mlflow,
  trackio: async () => (await import("./trackio/trackio.ts")).trackio,
  wandb: async () => (await import("./wandb.ts")).wandb,
});

/** Programs that receive a run's metrics while it trains: `[tensorboard, { name: mlflow, url: http://127.0.0.1:5000 }]`. */
export const reportersSchema = z.array(partSchema(reporters)).default([]);

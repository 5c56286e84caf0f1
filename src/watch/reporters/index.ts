import { partSchema } from "../../base/part-schema.ts";
import { registry } from "../../base/registry.ts";
import { z } from "../../base/schema.ts";
import { mlflow } from "./mlflow/mlflow.ts";
import type { ReporterPart } from "./reporter.ts";
import { tensorboard } from "./tensorboard/tensorboard.ts";
import { trackio } from "./trackio/trackio.ts";
import { wandb } from "./wandb/wandb.ts";

/** All reporters. */
export const reporters = registry<ReporterPart>("reporter", [tensorboard, mlflow, trackio, wandb]);

/** Programs that receive a run's metrics while it trains: `[tensorboard, { name: mlflow, url: http://127.0.0.1:5000 }]`. */
export const reportersSchema = z.array(partSchema(reporters)).default([]);

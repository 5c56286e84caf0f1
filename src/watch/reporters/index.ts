import { registry } from "../../base/registry.ts";
import { mlflow } from "./mlflow/mlflow.ts";
import type { ReporterPart } from "./reporter.ts";
import { tensorboard } from "./tensorboard/tensorboard.ts";
import { trackio } from "./trackio/trackio.ts";

/** All reporters. */
export const reporters = registry<ReporterPart>("reporter", [tensorboard, mlflow, trackio]);

import { registry } from "../../base/registry.ts";
import type { TaskAnnotation } from "./annotation.ts";

/** All that a synthesis can add to its questions. */
export const taskAnnotations = registry<TaskAnnotation>("task annotation", []);

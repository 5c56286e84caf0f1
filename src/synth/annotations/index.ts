import { registry } from "../../base/registry.ts";
import type { TaskAnnotation } from "./annotation.ts";
import { searchTerms } from "./search-terms.ts";

/** All annotations that a synthesis can add to its questions. */
export const taskAnnotations = registry<TaskAnnotation>("task annotation", [searchTerms]);

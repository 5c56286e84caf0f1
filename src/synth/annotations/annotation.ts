import { type PartWithOptions, definer } from "../../base/define-part.ts";
import { requireReturned } from "../../base/registry.ts";
import type { Environment } from "../../env/environments/environment.ts";
import type { Policy } from "../../rollout/policy.ts";
import type { Passage, Task } from "../../trajectory/task.ts";

/** What annotations may use. */
export interface AnnotationResources {
  policy: Policy;
  environment: Environment;
  passages: () => Iterable<Passage> | AsyncIterable<Passage>;
  seed: number;
}

/** Adds gold annotations to a question before it is drawn; rewards and hints read them beside the dataset's own. */
export interface TaskAnnotation extends PartWithOptions {
  readonly source: string;
  /** @throws the errors of opening a further retriever. */
  open(options: object, resources: AnnotationResources): Promise<OpenedAnnotation>;
}

export interface OpenedAnnotation {
  /** @returns the question with its additions; the same object if there are none. */
  annotate(task: Task, signal: AbortSignal): Promise<Task>;
  close(): Promise<void>;
}

/** Makes an annotation. @throws {ConfigError} PLUGIN_BAD_PART without open. */
export const defineAnnotation = definer<TaskAnnotation>()("task annotation", {
  defaults: { source: "" },
  functions: {
    open: {
      at: 0,
      async: true,
      returned(opened: Pick<OpenedAnnotation, "annotate"> & Partial<OpenedAnnotation>, { what }) {
        requireReturned(what, opened, { annotate: "function" });
        return { close: () => Promise.resolve(), ...opened };
      },
    },
  },
});

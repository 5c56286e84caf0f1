import type { PartWithOptions } from "../../base/part-schema.ts";
import type { Environment } from "../../env/environments/environment.ts";
import type { Policy } from "../../rollout/policy.ts";
import type { Passage, Task } from "../../trajectory/task.ts";

/** What annotations may use. */
export interface AnnotationResources {
  /** The teacher. */
  policy: Policy;
  environment: Environment;
  /** The run's corpus, for searches beside the environment's own. */
  passages: () => Iterable<Passage> | AsyncIterable<Passage>;
  seed: number;
}

/** Adds gold annotations to a question before it is drawn; rewards and hints read them beside the dataset's own. */
export interface TaskAnnotation extends PartWithOptions {
  readonly source: string;
  /** @throws the errors of opening a further retriever. */
  open(options: Record<string, unknown>, resources: AnnotationResources): Promise<OpenedAnnotation>;
}

export interface OpenedAnnotation {
  /** @returns the question with its additions; the same object if there are none. */
  annotate(task: Task, signal: AbortSignal): Promise<Task>;
  /** Closes its retrievers. */
  close(): Promise<void>;
}

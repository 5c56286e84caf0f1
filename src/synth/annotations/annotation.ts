import type { PartWithOptions } from "../../base/part-schema.ts";
import type { Environment } from "../../env/environments/environment.ts";
import type { Policy } from "../../rollout/policy.ts";
import type { Passage, Task } from "../../trajectory/task.ts";

/** What annotations ask. */
export interface AnnotationResources {
  /** The teacher. */
  policy: Policy;
  environment: Environment;
  /** The corpus at hand, for searches beside the environment's own. */
  passages: () => Iterable<Passage> | AsyncIterable<Passage>;
  seed: number;
}

/** Tells more of a question before it is drawn from: what rewards or hints then read beside the dataset's own gold. */
export interface TaskAnnotation extends PartWithOptions {
  readonly source: string;
  /** @throws what opening a further retriever throws. */
  open(options: Record<string, unknown>, resources: AnnotationResources): Promise<OpenedAnnotation>;
}

export interface OpenedAnnotation {
  /** @returns the question with what was added; the same object where nothing could be. */
  annotate(task: Task, signal: AbortSignal): Promise<Task>;
  /** Closes what was opened for it. */
  close(): Promise<void>;
}

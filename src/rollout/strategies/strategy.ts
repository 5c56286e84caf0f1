import type { Part } from "../../base/registry.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import type { RolloutOptions } from "../record.ts";

/** A way of answering a question with a policy and an environment. */
export interface Strategy extends Part {
  /** Whether it ever uses the environment's search; one that does not needs no corpus. */
  readonly searches: boolean;
  /** Where the method is published; absent for the plain ones. */
  readonly source?: string;
  run(options: RolloutOptions): Promise<Trajectory>;
}

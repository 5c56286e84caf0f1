/** An event of a run that its metrics do not show: a line of `events.jsonl`. */
export interface RunEvent {
  kind:
    /** A declared rule on the metrics was broken. */
    | "alarm"
    /** The run went back to an earlier checkpoint. */
    | "rollback"
    /** A checkpoint could not be used, so the run used the one before it. */
    | "checkpoint-damaged"
    /** A call has taken longer than usual. */
    | "waiting"
    /** The rules of `agentrl trace lint` were run on the first batch. */
    | "lint"
    /** Budgets of the recipe contradict each other. */
    | "budgets"
    /** A training server is reached without a key or encryption. */
    | "exposed"
    /** The run was resumed from a checkpoint. */
    | "resumed"
    /** A model failed, so that a reward could not score some trajectories. */
    | "unscored"
    /** A reporter could not deliver events. */
    | "reporter";
  /** Whole steps done when it happened. */
  step: number;
  /** One sentence for people: the finding, the limit and the reaction. */
  message: string;
  /** The same for programs. */
  facts: Readonly<Record<string, unknown>>;
}

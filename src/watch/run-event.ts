/** Something that happened to a run and that its metrics do not tell: a line of `events.jsonl`. */
export interface RunEvent {
  kind:
    /** A declared rule on the metrics was broken. */
    | "alarm"
    /** The run went back to an earlier checkpoint. */
    | "rollback"
    /** A checkpoint could not be used, and the one before it was. */
    | "checkpoint-damaged"
    /** Somebody has been waited for longer than usual. */
    | "waiting"
    /** The first batch was held to the rules of `agentrl trace lint`. */
    | "lint"
    /** Budgets of the recipe do not go together. */
    | "budgets"
    /** The run went on from a checkpoint. */
    | "resumed"
    /** A model failed, so that a reward could not score some trajectories. */
    | "unscored"
    /** A reporter could not tell what it should have. */
    | "reporter";
  /** Whole steps done when it happened. */
  step: number;
  /** One sentence for people, with what was found, what is allowed and what was done. */
  message: string;
  /** The same for programs. */
  facts: Readonly<Record<string, unknown>>;
}

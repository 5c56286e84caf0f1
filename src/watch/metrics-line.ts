/** What a step of a run came to: a line of `metrics.jsonl` without its timings. */
export interface MetricsLine {
  /** From 1. */
  step: number;
  /** By the field's names, `group/snake_case`. */
  metrics: Readonly<Record<string, number>>;
}

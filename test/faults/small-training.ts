import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Flags of the smallest training worth damaging: 2 questions × 2 trajectories a step, 4 held-out questions, a checkpoint each step. */
export function trainArguments(out: string, steps: number, ...more: string[]): string[] {
  const sets = [
    `algorithm.steps=${steps}`,
    "algorithm.promptsPerStep=2",
    "algorithm.groupSize=2",
    "algorithm.optimizer.learningRate=0.0001",
    "evaluation.dataset.questions=4",
    "checkpoints={every: 1, keep: 3}",
  ];
  const flags = ["--recipe", "search-r1", "--tier", "smoke", "--out", out];
  return ["train", ...flags, ...sets.flatMap((set) => ["--set", set]), ...more];
}

/** Steps that a run's metrics tell of. */
export function stepsOf(cwd: string, out: string): number[] {
  const lines = readFileSync(join(cwd, out, "metrics.jsonl"), "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => (JSON.parse(line) as { step: number }).step);
}

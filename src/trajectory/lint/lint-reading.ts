import type { Provenance } from "../sample.ts";
import type { Observation, Segment, Trajectory } from "../trajectory.ts";

/** The part of a protocol's interface that the lint rules need. */
export interface LintGrammar {
  /** Where a message ends for the environment (exclusive); null keeps all. */
  findCut(text: string): number | null;
  renderObservations(observations: readonly Observation[]): string;
  /** The final answer by the protocol's rule; null when there is none. */
  answerOf(texts: { prompt: string; messages: readonly string[] }): string | null;
  readsPrompt: boolean;
}

/** How trajectories were made, as far as known. */
export interface LintContext {
  /** Grammar of all messages of the main line; null: unknown, or the strategy has its own prompts. */
  grammar: LintGrammar | null;
  /** Sampling temperature of the messages; null: unknown, or not the same for all. */
  temperature: number | null;
}

/** What the rules need to read trajectories. */
export interface LintReading {
  textOf: (segment: Segment) => string | null;
  endIds: readonly number[] | null;
  /** Highest id plus 1; null without a tokenizer. */
  vocabSize: number | null;
  /** @param provenance of a sample; undefined for a trajectory of a run or an evaluation. */
  contextOf: (trajectory: Trajectory, provenance: Provenance | undefined) => LintContext;
}

/** What the rules need to read one trajectory. */
export type TrajectoryLintReading = Omit<LintReading, "contextOf"> & LintContext;

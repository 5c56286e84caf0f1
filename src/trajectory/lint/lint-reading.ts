import type { Provenance } from "../sample.ts";
import type { Observation, Segment, Trajectory } from "../trajectory.ts";

/** What of a protocol trajectories are held to: a part of the protocol's own interface. */
export interface LintGrammar {
  /** Where a message ends for the environment (exclusive); null keeps all. */
  findCut(text: string): number | null;
  /** What a message's observations look like to the policy. */
  renderObservations(observations: readonly Observation[]): string;
  /** The final answer by the protocol's rule; null when there is none. */
  answerOf(texts: { prompt: string; messages: readonly string[] }): string | null;
  /** Whether that rule looks at the prompt too. */
  readsPrompt: boolean;
}

/** How trajectories were made, as far as it is known. */
export interface LintManner {
  /** The grammar that all messages of the main line are written in; null: not known, or a strategy with prompts of its own. */
  grammar: LintGrammar | null;
  /** At which messages were drawn; null: not known, or not the same for all. */
  temperature: number | null;
}

/** What trajectories are read with. */
export interface LintReading {
  /** What a segment says; null where only ids are there and no tokenizer. */
  textOf: (segment: Segment) => string | null;
  /** Ids with which a model ends a message; null without a tokenizer. */
  endIds: readonly number[] | null;
  /** One more than the highest id; null without a tokenizer. */
  vocabSize: number | null;
  /** @param provenance of a sample; undefined for a trajectory of a run or an evaluation. */
  mannerOf: (trajectory: Trajectory, provenance: Provenance | undefined) => LintManner;
}

/** What one trajectory is read with. */
export type TrajectoryLintReading = Omit<LintReading, "mannerOf"> & LintManner;

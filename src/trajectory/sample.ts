import type { Task } from "./task.ts";
import type { Trajectory } from "./trajectory.ts";

/** A trajectory for training, with its question and its origin: a line of `samples.jsonl`. */
export interface Sample extends Candidate {
  /** Without the question's own passages. */
  task: Task;
}

/** A trajectory that a teacher drew for a question, before or after the steps of a pipeline. */
export interface Candidate {
  /** `<question>/<draw>-<number>`: unique in its file, and also the trajectory's id. */
  id: string;
  trajectory: Trajectory;
  /** Weight in the loss; 1 is normal. */
  weight: number;
  /** Scores by name: `answer-likelihood`, `pass-rate`, … */
  scores: Record<string, number>;
  provenance: Provenance;
}

/** Origin of a sample: with the run's settings and the question it can be reproduced byte for byte. */
export interface Provenance {
  agentrl: string;
  /** Hash of the settings that a draw depends on; the run folder's manifest has it. */
  settings: string;
  teacher: TeacherMark;
  /** Which of the run's draws, and the number among those of one question, from 0. */
  draw: { name: string; number: number };
  /** Strategy by name, with its options where it has any. The trajectory itself records inserted hints. */
  strategy: unknown;
  template: string;
  /** Fingerprint of corpus, analyzer and ranking. */
  retriever: string;
  dataset: string;
  /** Of the rollout. */
  seed: number;
  /** Pipeline steps that it passed, in order, each with its effect, if any. */
  steps: { name: string; change?: string }[];
}

/** Who wrote a trajectory. */
export interface TeacherMark {
  /** "gold-chain", "model" or "endpoint". */
  name: string;
  /** Folder, model of the hub, or address. */
  from?: string;
  sha256?: string;
  /** As a server names it. */
  model?: string;
}

/** Two trajectories of one question, of which the first is better: a line of `pairs.jsonl`. */
export interface PreferencePair {
  id: string;
  task: Task;
  chosen: Candidate;
  rejected: Candidate;
  /** Index in both `turns` of the first compared turn: what is before it is equal token for token. Absent: all turns are compared. */
  fromTurn?: number;
  /** Number of compared turns; later turns do not count. Absent: all that follow. */
  turns?: number;
  /** Difference of the scores by which they were chosen. */
  margin: number;
}

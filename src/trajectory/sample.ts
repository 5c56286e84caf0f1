import type { Task } from "./task.ts";
import type { Trajectory } from "./trajectory.ts";

/** A trajectory kept to learn from, with its question and how it came about: a line of `samples.jsonl`. */
export interface Sample extends Candidate {
  /** Without the question's own passages. */
  task: Task;
}

/** A trajectory that a teacher drew for a question, before or after the steps of a pipeline. */
export interface Candidate {
  /** `<question>/<draw>-<number>`: unlike every other of its file, and the trajectory's id. */
  id: string;
  trajectory: Trajectory;
  /** Share in a loss beside other samples' 1. */
  weight: number;
  /** What was said of it, by name: `answer-likelihood`, `pass-rate`, … */
  scores: Record<string, number>;
  provenance: Provenance;
}

/** How a sample came about: with it, the settings of its run and its question it can be made again, to the byte. */
export interface Provenance {
  /** Version of agentrl. */
  agentrl: string;
  /** Hash of the settings that a draw depends on; the run folder's manifest has it. */
  settings: string;
  teacher: TeacherMark;
  /** Which of the run's draws, and the number among those of one question, from 0. */
  draw: { name: string; number: number };
  /** Strategy by name, with its options where it has any. Hints that were put into messages stand on the trajectory. */
  strategy: unknown;
  /** Hash of prompt, protocol, tools and budgets. */
  template: string;
  /** Fingerprint of corpus, analyzer and ranking. */
  retriever: string;
  dataset: string;
  /** Of the rollout. */
  seed: number;
  /** Steps of the pipeline that it went through, in order, with what each did to it where it did something. */
  steps: { name: string; change?: string }[];
}

/** Who wrote a trajectory. */
export interface TeacherMark {
  /** "gold-chain", "model" or "endpoint". */
  name: string;
  /** Folder, model of the hub, or address. */
  from?: string;
  /** Of a model's files. */
  sha256?: string;
  /** As a server names it. */
  model?: string;
}

/** Two trajectories of one question, of which the first is better: a line of `pairs.jsonl`. */
export interface PreferencePair {
  /** Unlike every other of its file. */
  id: string;
  task: Task;
  chosen: Candidate;
  rejected: Candidate;
  /**
   * Index, in the `turns` of both, of the first turn that is compared: what was written before it, and what the model had read when it
   * wrote it, is the same in both, token for token. Absent: all turns are compared.
   */
  fromTurn?: number;
  /** Number of turns that are compared; what follows them is not looked at. Absent: all that follow. */
  turns?: number;
  /** Difference of what they were chosen by. */
  margin: number;
}

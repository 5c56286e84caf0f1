/**
 * What the viewer of trajectories shows, whatever it is filled with: an evaluation, a training run, synthesised samples. The page
 * holds one `ViewerSpec`, one index of `ViewerEntry` and chunks of `ViewerDetail`; the browser's side (src/report/browser) reads
 * nothing else.
 */
import type { Owner } from "../../trajectory/trajectory.ts";

/** What is the same for all entries. */
export interface ViewerSpec {
  /** What an entry is called: ["trajectory", "trajectories"]. */
  noun: [one: string, several: string];
  /** What can be filtered by; an entry's `facets` are in this order. */
  facets: { key: string; label: string }[];
  /** Tags of the protocols, without brackets, and what stands between them: { name: "search", holds: "call" }. */
  tags: { name: string; holds: "thought" | "call" | "answer" | "observation" }[];
  /** Details per chunk. */
  chunkSize: number;
}

/** How an entry came out; null where nothing was to be judged. */
export type Verdict = "right" | "partly" | "wrong" | "failed" | null;

/** A line of the list; all of them are in memory. */
export interface ViewerEntry {
  /** Unlike every other; the address `#id` opens it. */
  id: string;
  title: string;
  /** Under the title: what was answered. */
  subtitle: string;
  verdict: Verdict;
  /** Values by the spec's facets; null: none of it. */
  facets: (string | null)[];
  /** Entries of one group link to each other: draws of a question, several results. */
  group: string;
  /** What this one is called in its group. */
  label: string;
  /** Where several sides (runs) met the same: beside a chosen entry its nearest of another side is shown. */
  beside?: {
    /** Name of the side. */
    side: string;
    /** What was met: only entries of one key are laid beside each other. */
    key: string;
    /** Where in the side: among several of one key the nearest is taken. */
    at: number;
  };
}

/** What is shown of an entry once it is chosen. */
export interface ViewerDetail {
  facts: { label: string; value: string }[];
  blocks: ViewerBlock[];
}

/** A message with what led to it, or a remark. */
export type ViewerBlock =
  | { kind: "message"; title: string; spans: ViewerSpan[]; passages: ViewerPassage[] }
  | { kind: "remark"; tone: "plain" | "problem"; title: string; text: string };

/** A run of text with one owner. */
export interface ViewerSpan {
  owner: Owner;
  text: string;
  /** It is a passage, which was to be found (true) or not (false); absent: no passage. */
  gold?: boolean;
}

/** A passage that came back. */
export interface ViewerPassage {
  id: string;
  /** null: not known which were to be found. */
  gold: boolean | null;
}

/** What the script of curves reads of one part: the values of each step. */
export interface CurveData {
  steps: readonly [first: number, last: number];
  /** Lists of steps, which panels share. */
  grids: number[][];
  /** By panel, then by arm of the part: which grid, and a value for each of its steps. */
  panels: [grid: number, values: number[]][][];
  /** Colour of each arm of the part. */
  arms: number[];
  marks: { step: number; text: string }[];
}

/**
 * The data of the trajectory viewer, for evaluations, training runs and synthesised samples. The page holds one `ViewerSpec`, one index of
 * `ViewerEntry` and chunks of `ViewerDetail`; the browser's side (src/view/browser) reads nothing else.
 */
import type { ProtocolTag } from "../../env/protocols/protocol.ts";
import type { Owner } from "../../trajectory/trajectory.ts";

/** Data shared by all entries. */
export interface ViewerSpec {
  /** Name of an entry: ["trajectory", "trajectories"]. */
  noun: [one: string, several: string];
  /** The filters; an entry's `facets` are in this order. */
  facets: { key: string; label: string }[];
  /** Tags of all protocols. */
  tags: ProtocolTag[];
  /** Details per chunk. */
  chunkSize: number;
}

/** Verdict of an entry; null if not judged. */
export type Verdict = "right" | "partly" | "wrong" | "failed" | null;

/** A line of the list; all of them are in memory. */
export interface ViewerEntry {
  /** Unique; the address `#id` opens it. */
  id: string;
  title: string;
  /** Under the title: the answer. */
  subtitle: string;
  verdict: Verdict;
  /** Values by the spec's facets; null: no value. */
  facets: (string | null)[];
  /** Entries of one group link to each other: draws of a question, several results. */
  group: string;
  /** Its name in the group. */
  label: string;
  /** For several sides (runs): the viewer shows the nearest matching entry of another side beside the chosen one. */
  beside?: {
    /** Name of the side. */
    side: string;
    /** Only entries with equal keys match. */
    key: string;
    /** Position in the side: the nearest of several matches is shown. */
    at: number;
  };
}

/** Details of a chosen entry. */
export interface ViewerDetail {
  facts: { label: string; value: string }[];
  blocks: ViewerBlock[];
}

/** A message with its context, or a remark. */
export type ViewerBlock =
  | { kind: "message"; title: string; spans: ViewerSpan[]; passages: ViewerPassage[] }
  | { kind: "remark"; tone: "plain" | "problem"; title: string; text: string };

/** A run of text with one owner. */
export interface ViewerSpan {
  owner: Owner;
  /** Text that only mentions tags, such as a prompt that explains them: they are not marked. */
  mentionsTags?: true;
  text: string;
  /** It is a gold passage (true) or another passage (false); absent: no passage. */
  gold?: boolean;
}

/** A returned passage. */
export interface ViewerPassage {
  id: string;
  /** null: gold passages are unknown. */
  gold: boolean | null;
}

/** Data of one part for the script of curves: the values of each step. */
export interface CurveData {
  steps: readonly [first: number, last: number];
  /** Lists of steps, which panels share. */
  grids: number[][];
  /** By panel, then by arm of the part: index of the grid, and a value for each of its steps. */
  panels: [grid: number, values: number[]][][];
  /** Colour of each arm of the part. */
  arms: number[];
  marks: { step: number; text: string }[];
}

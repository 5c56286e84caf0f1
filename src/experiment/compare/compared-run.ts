/** Result of one draw of a question. */
export interface MeasuredDraw {
  answer: string | null;
  /** By metric; yes and no are 1 and 0. Metrics that the row lacks are absent. */
  values: Readonly<Record<string, number>>;
}

/** One question as a run measured it. */
export interface ComparedQuestion {
  id: string;
  /** null if the file has none. */
  question: string | null;
  references: readonly string[] | null;
  /** "2-hop", … */
  hops?: string;
  type?: string;
  /** Measured draws, without those that ended in an error. */
  draws: readonly MeasuredDraw[];
  /** Draws that ended in an error. */
  errors: number;
}

/** A run for a comparison: its results per question, and its protocol. */
export interface ComparedRun {
  /** Its name on the command line. */
  name: string;
  /** By id, in the order of the file. */
  questions: ReadonlyMap<string, ComparedQuestion>;
  /** Metrics of any row, in the order of their fields. */
  metrics: readonly string[];
  /** Its protocol: hash and parts, if results.json has them. */
  fingerprint: string | null;
  protocol: Readonly<Record<string, unknown>> | null;
  /** Facts for headings and lists. */
  facts: RunFacts;
}

/** Facts of results.json beside the protocol. */
export interface RunFacts {
  policy?: string;
  dataset?: string;
  strategy?: string;
  seed?: number;
  /** A tool or retriever used the questions' gold: the run is a control, not a result. */
  readsGold?: boolean;
}

/** One side of a comparison: a run, or several runs (seeds) of one system. */
export interface Side {
  name: string;
  runs: readonly ComparedRun[];
}

/** Several runs under one name, as one side. */
export function sideOf(runs: readonly ComparedRun[]): Side {
  return { name: runs.map(({ name }) => name).join(","), runs };
}

/** Metrics that every run has, in the first one's order. */
export function sharedMetrics(runs: readonly ComparedRun[]): string[] {
  const [first, ...others] = runs;
  return (first?.metrics ?? []).filter((metric) =>
    others.every(({ metrics }) => metrics.includes(metric)),
  );
}

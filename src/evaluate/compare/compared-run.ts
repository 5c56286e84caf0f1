/** What one draw of a question came to. */
export interface MeasuredDraw {
  answer: string | null;
  /** By metric; yes and no are 1 and 0. A metric that a row does not have is absent. */
  values: Readonly<Record<string, number>>;
}

/** One question as a run measured it. */
export interface ComparedQuestion {
  id: string;
  /** null where the file does not say. */
  question: string | null;
  references: readonly string[] | null;
  /** "2-hop", … */
  hops?: string;
  type?: string;
  /** Draws that were measured; those that ended in an error are not among them. */
  draws: readonly MeasuredDraw[];
  /** Draws that ended in an error. */
  errors: number;
}

/** A run to be compared: what it measured, question by question, and under what. */
export interface ComparedRun {
  /** As it was named. */
  name: string;
  /** By id, in the order of the file. */
  questions: ReadonlyMap<string, ComparedQuestion>;
  /** Metrics of any row, in the order of their fields. */
  metrics: readonly string[];
  /** Under what it was measured: hash and parts, as far as results.json says them. */
  fingerprint: string | null;
  protocol: Readonly<Record<string, unknown>> | null;
  /** What was measured, for headings and lists. */
  facts: RunFacts;
}

/** What results.json says of a run beside its protocol. */
export interface RunFacts {
  policy?: string;
  dataset?: string;
  strategy?: string;
  seed?: number;
  /** A tool or retriever looked at the questions' gold: a control, no result. */
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

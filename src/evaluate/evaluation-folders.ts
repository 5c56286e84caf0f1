import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Evaluations that a folder holds, in the order of their names. */
export interface EvaluationFolders {
  /** Folders with a results.json. */
  finished: string[];
  /** Folders with rows alone: the evaluation was interrupted. */
  unfinished: string[];
}

/** `eval --out FOLDER` writes FOLDER/POLICY/DATASET; one more level joins several of them. */
const DEPTH = 3;

/** The evaluations in a folder and in its subfolders: `agentrl eval --out` of several datasets writes one folder per dataset. */
export function evaluationsIn(place: string, depth = DEPTH): EvaluationFolders {
  if (existsSync(join(place, "results.json"))) return { finished: [place], unfinished: [] };
  if (existsSync(join(place, "rows.jsonl"))) return { finished: [], unfinished: [place] };
  if (depth === 0 || !existsSync(place) || !statSync(place).isDirectory())
    return { finished: [], unfinished: [] };
  const within = readdirSync(place, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
    .map((name) => evaluationsIn(join(place, name), depth - 1));
  return {
    finished: within.flatMap(({ finished }) => finished),
    unfinished: within.flatMap(({ unfinished }) => unfinished),
  };
}

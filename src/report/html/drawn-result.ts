import type { RunFigures } from "../run-figures.ts";
import type { ReadableResult } from "../viewer/evaluation-items.ts";
import type { ScoredResult } from "./score-panels.ts";

/** A result with everything that is drawn of it. */
export interface DrawnResult extends ScoredResult {
  readable: ReadableResult;
  figures: RunFigures;
}

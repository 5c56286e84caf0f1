import { registry } from "../../base/registry.ts";
import { answered } from "./answered.ts";
import { benchmarkOverlap } from "./benchmark-overlap.ts";
import { bestWorstPairs } from "./best-worst-pairs.ts";
import { correct } from "./correct.ts";
import { dropHints } from "./drop-hints.ts";
import { dropRepeatedCalls } from "./drop-repeated-calls.ts";
import { executed } from "./executed.ts";
import { format } from "./format.ts";
import { importanceWeights } from "./importance-weights.ts";
import { likeliest } from "./likeliest.ts";
import { mostCalls } from "./most-calls.ts";
import { nearDuplicate } from "./near-duplicate.ts";
import { noCopiedObservation } from "./no-copied-observation.ts";
import { noLeak } from "./no-leak.ts";
import { passRate } from "./pass-rate.ts";
import { perQuestion } from "./per-question.ts";
import { repetition } from "./repetition.ts";
import { searched } from "./searched.ts";
import { solvedOnlyBy } from "./solved-only-by.ts";
import { stepPairs } from "./step-pairs.ts";
import type { SynthStep } from "./step.ts";
import { supported } from "./supported.ts";
import { toolNeed } from "./tool-need.ts";

/** All steps that a synthesis may run its samples through: gates, filters, repairs, weights, pairs. */
export const synthSteps = registry<SynthStep>("synthesis step", [
  answered,
  correct,
  format,
  executed,
  searched,
  noLeak,
  noCopiedObservation,
  supported,
  passRate,
  solvedOnlyBy,
  toolNeed,
  perQuestion,
  mostCalls,
  repetition,
  nearDuplicate,
  benchmarkOverlap,
  dropRepeatedCalls,
  dropHints,
  likeliest,
  importanceWeights,
  bestWorstPairs,
  stepPairs,
]);

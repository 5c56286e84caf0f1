import { registry } from "../../base/registry.ts";
import { noCopiedObservation, noLeak, supported } from "./evidence-gates.ts";
import {
  answered,
  correct,
  mostCalls,
  passRate,
  searched,
  solvedOnlyBy,
  toolNeed,
} from "./outcome-gates.ts";
import { benchmarkOverlap, nearDuplicate, repetition } from "./overlap-filters.ts";
import { bestWorstPairs, stepPairs } from "./pairs.ts";
import { executed, format } from "./protocol-gates.ts";
import { importanceWeights, likeliest, perQuestion } from "./ranking.ts";
import { dropHints, dropPassages, dropRepeatedCalls, referenceAnswer } from "./repairs.ts";
import type { SynthStep } from "./step.ts";
import { traceEdit } from "./trace-edit.ts";

/** All steps of a synthesis: gates, filters, repairs, weights, pairs. */
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
  dropPassages,
  referenceAnswer,
  likeliest,
  importanceWeights,
  bestWorstPairs,
  stepPairs,
  traceEdit,
]);

import { registry } from "../../base/registry.ts";
import { answerLikelihood } from "./answer-likelihood.ts";
import { difficulty } from "./difficulty.ts";
import type { SampleScorer } from "./scorer.ts";

/** All scorers of drawn trajectories. */
export const sampleScorers = registry<SampleScorer>("sample scorer", [
  answerLikelihood,
  difficulty,
]);

import { registry } from "../../base/registry.ts";
import type { SampleScorer } from "./scorer.ts";

/** All scorers of drawn trajectories. */
export const sampleScorers = registry<SampleScorer>("sample scorer", []);

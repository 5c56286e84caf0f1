import { registry } from "../../base/registry.ts";
import type { SynthStep } from "./step.ts";

/** All steps that a synthesis may run its samples through. */
export const synthSteps = registry<SynthStep>("synthesis step", []);

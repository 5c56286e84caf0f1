import type { Environment } from "../../src/env/environments/environment.ts";
import { type StepResult, type SynthStep, teacherSegments } from "../../src/synth/steps/step.ts";
import type { Tokenizer } from "../../src/text/tokenizer.ts";
import type { Candidate } from "../../src/trajectory/sample.ts";
import type { Trajectory } from "../../src/trajectory/trajectory.ts";
import { answered, searchEnvironment, task, tokenizer } from "./search-world.ts";

interface Drawn {
  reward?: number | null;
  scores?: Record<string, number>;
  /** Name of its draw. */
  draw?: string;
  weight?: number;
  trajectory?: Trajectory;
}

/** A draw of the question about Norway's capital, as steps are given it. */
export function candidate(
  id: string,
  {
    reward = 1,
    scores = {},
    draw = "agent",
    weight = 1,
    trajectory = answered("Oslo"),
  }: Drawn = {},
): Candidate {
  return {
    id,
    trajectory: { ...trajectory, id, reward },
    weight,
    scores,
    provenance: {
      agentrl: "0.0.0",
      settings: "s",
      teacher: { name: "model" },
      draw: { name: draw, number: 0 },
      strategy: "agent",
      template: "t",
      retriever: "r",
      dataset: "d",
      seed: 1,
      steps: [],
    },
  };
}

interface StepSetting {
  seed?: number;
  environment?: Environment;
  /** Null: the draws are text. */
  drawnWith?: Tokenizer | null;
}

/** What a step makes of the draws of one question, under options as a recipe gives them. */
export async function applyStep(
  part: SynthStep,
  candidates: readonly Candidate[],
  options: Record<string, unknown> = {},
  { seed = 1, environment = searchEnvironment(), drawnWith = tokenizer }: StepSetting = {},
): Promise<StepResult> {
  const { protocol, toolSchemas: tools } = environment;
  const step = await part.open(part.options.parse(options), {
    protocol,
    tools,
    seed,
    ...teacherSegments(drawnWith),
  });
  return step.apply({ task, candidates });
}

/** The ids of those that a step keeps, and what it says of the others. */
export function outcome({ kept, dropped }: StepResult): { kept: string[]; dropped: string[] } {
  return {
    kept: kept.map(({ id }) => id),
    dropped: dropped.map(({ id, reason }) => `${id}: ${reason}`),
  };
}

import { random } from "../../src/base/random.ts";
import { sampleSelectors } from "../../src/synth/selectors/index.ts";
import type { SampleFacts } from "../../src/synth/selectors/selector.ts";

/** A sample as selectors see it: a bridge of two hops by an agent, 100 characters long. */
export function sampleFacts(id: string, changes: Partial<SampleFacts> = {}): SampleFacts {
  return {
    id,
    taskId: `question-${id}`,
    type: "bridge",
    hops: 2,
    draw: "agent",
    reward: 1,
    scores: {},
    length: 100,
    searches: 1,
    ...changes,
  };
}

/** What a selector keeps and drops, by id, under options as a recipe gives them. */
export function select(
  name: string,
  samples: readonly SampleFacts[],
  options: Record<string, unknown> = {},
  seed = 1,
): { kept: string[]; dropped: string[] } {
  const part = sampleSelectors.get(name, "test");
  const { kept, dropped } = part.select(samples, part.options.parse(options), random(seed));
  return {
    kept: kept.map(({ id }) => id),
    dropped: dropped.map(({ id, reason }) => `${id}: ${reason}`).sort(),
  };
}

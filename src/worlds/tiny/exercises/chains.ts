import type { Random } from "../../../base/random.ts";
import type { Passage, Task } from "../../../trajectory/task.ts";
import type { TinyWorldMix } from "../tiny-world-settings.ts";
import type { Relation } from "../relations.ts";
import { readStep } from "../text.ts";
import type { TinyWorld } from "../tiny-world.ts";

/** No kind of question; a mix names those that it wants. */
export const NO_QUESTIONS: Readonly<TinyWorldMix> = {
  bridge1: 0,
  bridge2: 0,
  bridge3: 0,
  bridge4: 0,
  bridge5: 0,
  bridge6: 0,
  comparison: 0,
  yesNo: 0,
  intersect: 0,
  compareChains: 0,
};

/** A fact that a question asks for. */
export interface AskedFact {
  relation: Relation;
  /** Name of the entity. */
  name: string;
  value: string;
}

/** The facts of a chain, from the question's entity outwards. */
export function askedFacts({ annotations: { decomposition = [] } }: Task): AskedFact[] {
  return decomposition.flatMap(({ question, answer }) => {
    const step = readStep(question);
    return step === null ? [] : [{ ...step, value: answer }];
  });
}

/** The shown passages of a question, and which of them it needs. */
export function shownPassages({ annotations }: Task): { all: Passage[]; needed: Passage[] } {
  const { context: all = [], supportingPassages = [] } = annotations;
  return { all, needed: all.filter(({ id }) => supportingPassages.includes(id)) };
}

/** Another value of a relation than this one, from the same world. */
export function otherValue(
  world: TinyWorld,
  { relation, value }: Pick<AskedFact, "relation" | "value">,
  draw: Random,
): string {
  for (;;) {
    const number = draw.int(MANY_QUESTIONS);
    const asked = { mix: { ...NO_QUESTIONS, bridge1: 1 }, relations: [relation.name] };
    const [other = value] = world.question(number, asked).references;
    if (other !== value) return other;
  }
}

const MANY_QUESTIONS = 10_000;

import { seedFrom } from "../../base/random.ts";
import type { Task } from "../../trajectory/task.ts";
import { isWithin, RELATIONS_OF, tinyWorldFacts } from "./facts.ts";
import { wrongValue } from "./passage-text.ts";
import { step, valueText } from "./text.ts";
import { type TinyWorld, tinyWorld } from "./tiny-world.ts";
import { type TinyWorldSettings } from "./tiny-world-settings.ts";

/** The one small world that a policy can learn by heart in pre-training: the same facts in every run. */
const KNOWN = { split: "base", seed: 0, people: 60 } as const;

/** The world known by heart, its passages written as those of `like`. */
export function knownWorld({
  passages,
  wordings,
  filler,
  sources,
}: Pick<TinyWorldSettings, "passages" | "wordings" | "filler" | "sources"> = {}): TinyWorld {
  return tinyWorld({ ...KNOWN, passages, wordings, filler, sources });
}

/**
 * The wrong answer of a faulty memory to a chain of the known world; null where it remembers rightly.
 * @param share of the entities, from 0 to 1, always the same ones, whose facts are misremembered.
 */
export function misremembered(task: Task, share: number): string | null {
  const last = task.annotations.decomposition?.at(-1)?.question;
  if (task.annotations.type !== "bridge" || last === undefined) return null;
  wrongAnswers ??= allWrongAnswers();
  const wrong = wrongAnswers.get(last);
  return wrong !== undefined && isWithin(share, wrong.bits) ? wrong.value : null;
}

/**
 * The answers of a chain's steps as a faulty memory remembers them; null if it is no chain, or a step before the last is misremembered.
 * @param share of the entities, from 0 to 1, whose facts are misremembered.
 */
export function rememberedSteps(task: Task, share: number): string[] | null {
  const { type, decomposition = [] } = task.annotations;
  if (type !== "bridge") return null;
  const wrong = decomposition.map((each) =>
    misremembered({ ...task, annotations: { type, decomposition: [each] } }, share),
  );
  if (wrong.slice(0, -1).some((each) => each !== null)) return null;
  return decomposition.map(({ answer }, i) => wrong[i] ?? answer);
}

let wrongAnswers: Map<string, { value: string; bits: number }> | undefined;

/** By step: a wrong value, and the bits that decide whether its entity is misremembered. */
function allWrongAnswers(): Map<string, { value: string; bits: number }> {
  const { seed, split, people } = KNOWN;
  const facts = tinyWorldFacts(seed, split, people, { namesakes: 0, aliases: 0, missing: 0 });
  return new Map(
    Array.from({ length: facts.size }, (_, entity) =>
      RELATIONS_OF[facts.kind(entity)].map((relation) => {
        const value = valueText(facts, relation, wrongValue(facts, entity, relation));
        const bits = seedFrom("misremembered", facts.name(entity));
        return [step(relation, facts.name(entity)), { value, bits }] as const;
      }),
    ).flat(),
  );
}

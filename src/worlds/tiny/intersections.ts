import { calledInQuestion, type Deck, type DraftStep, followChain, rowsDeck } from "./decks.ts";
import type { Facts } from "./facts.ts";
import { INTERSECTIONS, type Intersection } from "./language.ts";
import { RELATIONS, type Relation } from "./relations.ts";
import { fill } from "./text.ts";

/** An intersection's chains of relations from the answer outwards. */
export function conditionsOf({ x, y }: Intersection): readonly (readonly Relation[])[] {
  return [x, y].map((names) =>
    names.flatMap((name) => RELATIONS.filter((relation) => relation.name === name)),
  );
}

/**
 * Questions for the one entity that meets two conditions, each of which several entities meet. Steps go from the question's names to the
 * answer.
 */
export function intersectDeck(
  facts: Facts,
  isWanted: (chain: readonly Relation[]) => boolean,
): Deck {
  const rows = INTERSECTIONS.flatMap((intersection) => {
    const conditions = conditionsOf(intersection);
    const subject = conditions[0]?.[0]?.subject ?? "person";
    return conditions.every((chain) => isWanted(chain))
      ? [
          {
            item: { question: intersection.question, conditions },
            first: facts.offsets[subject],
            count: facts.counts[subject],
          },
        ]
      : [];
  });
  return rowsDeck(rows, ({ question, conditions }, answer) => {
    const chains = conditions.map((chain) => followChain(facts, chain, answer));
    const named = chains.map((chain) => chain.at(-1)?.fact.value ?? answer);
    const [a = [], b = []] = chains.map((chain) => meeting(facts, chain));
    const both = a.filter((entity) => b.includes(entity));
    if (both.length !== 1 || named.includes(answer)) return null;
    if (chains.some((chain) => meeting(facts, chain, "stated").length < 2)) return null;
    const [x = "", y = ""] = named.map((entity) => calledInQuestion(facts, entity));
    return {
      type: "intersect",
      text: fill(question, { x, y }),
      steps: chains.flatMap((chain) =>
        chain.toReversed().map((step) => ({ ...step, inverse: true as const })),
      ),
      named,
      answer: facts.name(answer),
    };
  });
}

/** All entities that meet the condition of which `chain` is one case; `stated`: by the facts that passages state. */
function meeting(facts: Facts, chain: readonly DraftStep[], only?: "stated"): number[] {
  let found = chain.slice(-1).map(({ fact }) => fact.value);
  for (const { relation } of chain.toReversed().map(({ fact }) => fact)) {
    found = found
      .flatMap((value) => facts.subjects(relation, value))
      .filter((entity) => only === undefined || !facts.isMissing(entity, relation));
  }
  return found;
}

import { calledInQuestion, type Deck, type DraftStep, followChain, rowsDeck } from "./decks.ts";
import { RELATIONS_OF, type Facts } from "./facts.ts";
import { KINDS } from "./names.ts";
import type { Relation } from "./relations.ts";
import { chainQuestion } from "./text.ts";

/** Every wanted chain of `hops` relations from every entity of its kind. */
export function bridgeDeck(
  facts: Facts,
  hops: number,
  isWanted: (chain: readonly Relation[]) => boolean,
): Deck {
  const chains = KINDS.flatMap((kind) => chainsFrom(kind, hops)).filter(isWanted);
  const rows = chains.map((chain) => {
    const kind = chain[0]?.subject ?? "person";
    return { item: chain, first: facts.offsets[kind], count: facts.counts[kind] };
  });
  return rowsDeck(rows, (chain, entity, bits) => {
    const steps = followChain(facts, chain, entity);
    if (!isHonest(facts, steps)) return null;
    return {
      type: "bridge",
      text: chainQuestion(calledInQuestion(facts, entity), chain, bits),
      steps,
      named: [entity],
      answer: null,
    };
  });
}

function chainsFrom(kind: Relation["object"], hops: number): Relation[][] {
  if (hops === 0) return [[]];
  if (kind === "year") return [];
  return RELATIONS_OF[kind].flatMap((relation) =>
    chainsFrom(relation.object, hops - 1)
      // The region of a region's capital is the same region: such a chain is always a circle.
      .filter(([next]) => !(relation.name === "region-capital" && next?.name === "town-region"))
      .map((rest) => [relation, ...rest]),
  );
}

/** No entity twice, and (beyond one hop) no passage with the first entity's name contains the answer. */
function isHonest(facts: Facts, steps: readonly DraftStep[]): boolean {
  const answer = steps.at(-1)?.fact;
  const first = steps[0];
  if (answer === undefined || first === undefined) return false;
  const entities = steps.map(({ entity }) => entity);
  if (answer.relation.object !== "year") entities.push(answer.value);
  if (new Set(entities).size < entities.length) return false;
  if (steps.length === 1) return true;
  const years = answer.relation.object === "year";
  return !facts
    .mentioning(first.entity)
    .some(
      (passage) =>
        (!years && passage === answer.value) ||
        facts
          .about(passage)
          .some(
            (fact) => fact.value === answer.value && (fact.relation.object === "year") === years,
          ),
    );
}

import {
  calledInQuestion,
  type Deck,
  type Draft,
  type DraftStep,
  followChain,
  rowsDeck,
  shareAPassage,
} from "./decks.ts";
import type { Facts } from "./facts.ts";
import { RELATIONS, type Relation } from "./relations.ts";
import { fill, phrase } from "./text.ts";

type IsWanted = (chain: readonly Relation[]) => boolean;

/** Which of two subjects has the smaller year. */
export function comparisonDeck(facts: Facts, isWanted: IsWanted): Deck {
  const relations = RELATIONS.filter((r) => r.comparison !== undefined && isWanted([r]));
  return pairDeck(facts, relations, comparisonCard);
}

/** Whether two subjects share a value. */
export function yesNoDeck(facts: Facts, isWanted: IsWanted): Deck {
  const relations = RELATIONS.filter((r) => r.same !== undefined && isWanted([r]));
  return pairDeck(facts, relations, yesNoCard);
}

/** Pairs of subjects of one relation; `bits` selects the second subject. */
function pairDeck(
  facts: Facts,
  relations: readonly Relation[],
  card: (facts: Facts, relation: Relation, x: number, bits: number) => Draft | null,
): Deck {
  const rows = relations.map((relation) => ({
    item: relation,
    first: facts.offsets[relation.subject],
    count: facts.counts[relation.subject],
  }));
  return rowsDeck(rows, (relation, x, bits) => card(facts, relation, x, bits));
}

function comparisonCard(facts: Facts, relation: Relation, x: number, bits: number): Draft | null {
  const y = facts.offsets[relation.subject] + (bits % facts.counts[relation.subject]);
  const steps = pairSteps(facts, relation, x, y);
  const [a, b] = steps.map(({ fact }) => fact.value);
  if (a === undefined || b === undefined || a === b || shareAPassage(facts, x, y)) return null;
  const text = fill(relation.comparison ?? "", {
    x: calledInQuestion(facts, x),
    y: calledInQuestion(facts, y),
  });
  return { type: "comparison", text, steps, named: [x, y], answer: facts.name(a < b ? x : y) };
}

function yesNoCard(facts: Facts, relation: Relation, x: number, bits: number): Draft | null {
  const wantYes = bits % 2 === 0;
  const others = wantYes
    ? facts.subjects(relation, facts.value(x, relation)).filter((other) => other !== x)
    : [facts.offsets[relation.subject] + ((bits >>> 1) % facts.counts[relation.subject])];
  const y = others[(bits >>> 1) % others.length];
  if (y === undefined || shareAPassage(facts, x, y)) return null;
  const steps = pairSteps(facts, relation, x, y);
  const same = steps[0]?.fact.value === steps[1]?.fact.value;
  if (same !== wantYes) return null;
  const text = fill(relation.same ?? "", {
    x: calledInQuestion(facts, x),
    y: calledInQuestion(facts, y),
  });
  return { type: "yes-no", text, steps, named: [x, y], answer: same ? "yes" : "no" };
}

function pairSteps(facts: Facts, relation: Relation, x: number, y: number): DraftStep[] {
  return [x, y].map((entity) => ({
    entity,
    fact: { relation, value: facts.value(entity, relation) },
  }));
}

type Hop = { first: Relation; year: Relation };

/** Which of the ends of two chains of two hops has the smaller year. */
export function compareChainsDeck(facts: Facts, isWanted: IsWanted): Deck {
  const hops = RELATIONS.filter((r) => r.comparison !== undefined).flatMap((year) =>
    RELATIONS.filter((first) => first.object === year.subject && isWanted([first, year])).map(
      (first): Hop => ({ first, year }),
    ),
  );
  const rows = hops.map((hop) => {
    const { subject } = hop.first;
    return { item: hop, first: facts.offsets[subject], count: facts.counts[subject] };
  });
  return rowsDeck(rows, (hop, x, bits) => {
    const others = hops.filter(({ year }) => year === hop.year);
    const other = others[(bits >>> 20) % others.length] ?? hop;
    const { subject } = other.first;
    const y = facts.offsets[subject] + ((bits >>> 4) % facts.counts[subject]);
    return chainsCard(facts, [hop, other], [x, y], bits);
  });
}

function chainsCard(
  facts: Facts,
  [hop, other]: readonly [Hop, Hop],
  [x, y]: readonly [number, number],
  bits: number,
): Draft | null {
  const a = facts.value(x, hop.first);
  const b = facts.value(y, other.first);
  const [yearA, yearB] = [facts.value(a, hop.year), facts.value(b, hop.year)];
  if (new Set([x, y, a, b]).size < 4 || yearA === yearB) return null;
  if (shareAPassage(facts, x, y) || shareAPassage(facts, a, b)) return null;
  const text = fill(hop.year.comparison ?? "", {
    x: phrase(hop.first, calledInQuestion(facts, x), bits),
    y: phrase(other.first, calledInQuestion(facts, y), bits >>> 1),
  });
  const steps = [
    ...followChain(facts, [hop.first, hop.year], x),
    ...followChain(facts, [other.first, other.year], y),
  ];
  const answer = facts.name(yearA < yearB ? a : b);
  return { type: "compare-chains", text, steps, named: [x, y], answer };
}

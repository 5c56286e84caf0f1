import type { Fact, Facts } from "./facts.ts";
import { permutation } from "./permutation.ts";
import type { Relation } from "./relations.ts";

/** A fact to look up. */
export interface DraftStep {
  entity: number;
  fact: Fact;
  /** Look for the entity by the value, instead of the value by the entity. */
  inverse?: true;
}

/** The facts of a question. */
export interface Draft {
  type: "bridge" | "comparison" | "yes-no" | "intersect" | "compare-chains";
  text: string;
  steps: DraftStep[];
  /** The entities that the question names, perhaps by their second names. */
  named: number[];
  /** Null: the last step's value. */
  answer: string | null;
}

/** All questions of one kind. */
export interface Deck {
  size: number;
  /** The question at a position of the deck, or null when it is not allowed. */
  card(place: number, bits: number): Draft | null;
}

/** The name that a question uses: the second name where there is one. */
export function calledInQuestion(facts: Facts, entity: number): string {
  return facts.alias(entity) ?? facts.name(entity);
}

/** Whether one passage names both, or they are the same entity. */
export function shareAPassage(facts: Facts, x: number, y: number): boolean {
  const withX = new Set(facts.mentioning(x));
  return facts.mentioning(y).some((passage) => withX.has(passage));
}

/** The steps along a chain of relations from an entity. */
export function followChain(facts: Facts, chain: readonly Relation[], start: number): DraftStep[] {
  let entity = start;
  return chain.map((relation) => {
    const step = { entity, fact: { relation, value: facts.value(entity, relation) } };
    entity = step.fact.value;
    return step;
  });
}

/** A deck row: every entity of a kind with one item. */
export type Row<T> = { item: T; first: number; count: number };

/** Numbers (item, entity) pairs row by row. */
export function rowsDeck<T>(
  rows: readonly Row<T>[],
  card: (item: T, entity: number, bits: number) => Draft | null,
): Deck {
  const size = rows.reduce((sum, row) => sum + row.count, 0);
  return {
    size,
    card(place, bits) {
      let left = place;
      for (const row of rows) {
        if (left < row.count) return card(row.item, row.first + left, bits);
        left -= row.count;
      }
      return null;
    },
  };
}

/** The same questions in a shuffled order. */
export function shuffled(deck: Deck, key: number): Deck {
  const order = permutation(Math.max(1, deck.size), key);
  return { size: deck.size, card: (place, bits) => deck.card(order.at(place), bits) };
}

import { ConfigError } from "../../base/errors.ts";
import { RELATIONS_OF, type Fact, type Facts } from "./facts.ts";
import { KINDS } from "./names.ts";
import { mix32, permutation } from "./permutation.ts";
import { RELATIONS, type Relation } from "./relations.ts";
import { chainQuestion, fill } from "./text.ts";

/** Weights of the kinds of question; any sum. */
export interface TinyWorldMix {
  bridge1: number;
  bridge2: number;
  bridge3: number;
  bridge4: number;
  bridge5: number;
  bridge6: number;
  comparison: number;
  yesNo: number;
}

/** Few questions with two possible answers, which a guess can score; no chains beyond three. */
export const DEFAULT_MIX: Readonly<TinyWorldMix> = {
  bridge1: 0.3,
  bridge2: 0.4,
  bridge3: 0.24,
  bridge4: 0,
  bridge5: 0,
  bridge6: 0,
  comparison: 0.03,
  yesNo: 0.03,
};

/** The facts of a question. */
export interface Draft {
  type: "bridge" | "comparison" | "yes-no";
  text: string;
  /** The facts to look up, in order: in a chain, each is about the previous value; else one about each subject. */
  steps: { entity: number; fact: Fact }[];
  /** Null: the last step's value. */
  answer: string | null;
}

/**
 * Draws questions of one world by number.
 * @param relation keeps only questions whose last relation has this name.
 */
export type QuestionDrawer = (number: number, mix: TinyWorldMix, relation?: string) => Draft;

interface Deck {
  size: number;
  /** The question at a position of the deck, or null when it is not allowed. */
  card(place: number, bits: number): Draft | null;
}

/** Most cards are allowed, so a few tries are enough; only worlds of two or three people lack a kind. */
const MOST_TRIES = 1000;

/**
 * Question number j is a card of its kind's shuffled deck. The deck contains every question of the kind once (without its wording), so
 * small numbers never repeat one. A distant card replaces one that is not allowed.
 */
export function questionDrawer(facts: Facts): QuestionDrawer {
  const decks = new Map<string, Deck>();
  const deckOf = (kind: keyof TinyWorldMix, relation: string | undefined): Deck => {
    const name = relation === undefined ? kind : `${kind} ${relation}`;
    let deck = decks.get(name);
    if (deck === undefined) {
      const isWanted = (last: Relation): boolean =>
        relation === undefined || last.name === relation;
      deck = shuffled(makeDeck(facts, kind, isWanted), facts.hash(`deck ${name}`, 0));
      decks.set(name, deck);
    }
    return deck;
  };
  return (number, mix, relation) => {
    const kind = pickKind(mix, facts.hash("kind", number));
    const deck = deckOf(kind, relation);
    const bits = facts.hash("question", number);
    for (let attempt = 0; attempt < MOST_TRIES; attempt++) {
      const place = (number + attempt * Math.ceil(deck.size / 8) + (attempt >>> 3)) % deck.size;
      const draft = deck.card(place, mix32(bits, attempt));
      if (draft !== null) return draft;
    }
    throw new ConfigError(
      "TINY_WORLD_TOO_SMALL",
      `tinyworld: a world of ${facts.counts.person} people has no ${kind} question${relation === undefined ? "" : ` that asks for ${relation}`}. Raise "people" or set mix.${kind} to 0.`,
    );
  };
}

function makeDeck(
  facts: Facts,
  kind: keyof TinyWorldMix,
  isWanted: (last: Relation) => boolean,
): Deck {
  switch (kind) {
    case "bridge1":
    case "bridge2":
    case "bridge3":
    case "bridge4":
    case "bridge5":
    case "bridge6":
      return bridgeDeck(facts, Number(kind.slice(-1)), isWanted);
    case "comparison":
      return pairDeck(
        facts,
        RELATIONS.filter((r) => r.comparison !== undefined && isWanted(r)),
        comparisonCard,
      );
    case "yesNo":
      return pairDeck(
        facts,
        RELATIONS.filter((r) => r.same !== undefined && isWanted(r)),
        yesNoCard,
      );
  }
}

/** Every chain of `hops` relations from every entity of its kind, if its last relation is wanted. */
function bridgeDeck(facts: Facts, hops: number, isWanted: (last: Relation) => boolean): Deck {
  const chains = KINDS.flatMap((kind) => chainsFrom(kind, hops)).filter((chain) => {
    const last = chain.at(-1);
    return last !== undefined && isWanted(last);
  });
  const rows = chains.map((chain) => {
    const kind = chain[0]?.subject ?? "person";
    return { item: chain, first: facts.offsets[kind], count: facts.counts[kind] };
  });
  return rowsDeck(rows, (chain, entity, bits) => {
    const steps = followChain(facts, chain, entity);
    if (!isHonest(facts, steps)) return null;
    return {
      type: "bridge",
      text: chainQuestion(facts.name(entity), chain, bits),
      steps,
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

function followChain(facts: Facts, chain: readonly Relation[], start: number): Draft["steps"] {
  let entity = start;
  return chain.map((relation) => {
    const step = { entity, fact: { relation, value: facts.value(entity, relation) } };
    entity = step.fact.value;
    return step;
  });
}

/** No entity twice, and (beyond one hop) no passage with the first entity's name contains the answer. */
function isHonest(facts: Facts, steps: Draft["steps"]): boolean {
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
  const text = fill(relation.comparison ?? "", { x: facts.name(x), y: facts.name(y) });
  return { type: "comparison", text, steps, answer: facts.name(a < b ? x : y) };
}

/** Half of the answers are yes, if the world has enough pairs. */
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
  const text = fill(relation.same ?? "", { x: facts.name(x), y: facts.name(y) });
  return { type: "yes-no", text, steps, answer: same ? "yes" : "no" };
}

function pairSteps(facts: Facts, relation: Relation, x: number, y: number): Draft["steps"] {
  return [x, y].map((entity) => ({
    entity,
    fact: { relation, value: facts.value(entity, relation) },
  }));
}

/** Whether one passage names both, or they are the same entity. */
function shareAPassage(facts: Facts, x: number, y: number): boolean {
  const withX = new Set(facts.mentioning(x));
  return facts.mentioning(y).some((passage) => withX.has(passage));
}

interface Row<T> {
  item: T;
  first: number;
  count: number;
}

/** Numbers (item, entity) pairs row by row. */
function rowsDeck<T>(
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

function shuffled(deck: Deck, key: number): Deck {
  const order = permutation(Math.max(1, deck.size), key);
  return { size: deck.size, card: (place, bits) => deck.card(order.at(place), bits) };
}

function pickKind(mix: TinyWorldMix, bits: number): keyof TinyWorldMix {
  const kinds = Object.keys(DEFAULT_MIX) as (keyof TinyWorldMix)[];
  const total = kinds.reduce((sum, kind) => sum + mix[kind], 0);
  let left = (bits / 2 ** 32) * total;
  for (const kind of kinds) {
    if (left < mix[kind]) return kind;
    left -= mix[kind];
  }
  const last = kinds.findLast((kind) => mix[kind] > 0);
  if (last !== undefined) return last;
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `tinyworld: mix is ${JSON.stringify(mix)}; at least one weight must be above 0.`,
  );
}

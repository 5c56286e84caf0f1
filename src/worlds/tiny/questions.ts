import { ConfigError } from "../../base/errors.ts";
import {
  type Deck,
  type Draft,
  type DraftStep,
  calledInQuestion,
  followChain,
  rowsDeck,
  shuffled,
} from "./decks.ts";
import { type Facts, RELATIONS_OF, isWithin } from "./facts.ts";
import { KINDS } from "./names.ts";
import { compareChainsDeck, comparisonDeck, yesNoDeck } from "./pairs.ts";
import { mix32 } from "./permutation.ts";
import { RELATIONS, type Relation } from "./relations.ts";
import { INTERSECTIONS, type Intersection, chainQuestion, fill } from "./text.ts";
import { DEFAULT_MIX, type TinyWorldMix } from "./tiny-world-settings.ts";

/** Which questions to draw. */
export interface Wanted {
  mix: TinyWorldMix;
  /** Names of the last (or compared) relations; empty: all. */
  relations?: readonly string[];
  /** Names of relations that no question uses. */
  exclude?: readonly string[];
  /** Share of the chains that need a fact which no passage states. */
  unanswerable?: number;
}

/** Draws questions of one world by number. */
export type QuestionDrawer = (number: number, wanted: Wanted) => Draft;

/** Most cards are allowed, so a few tries are enough; only worlds of two or three people lack a kind. */
const MOST_TRIES = 1000;

/** Question j is a card of its kind's shuffled deck, so small numbers never repeat one. A distant card replaces one not allowed. */
export function questionDrawer(facts: Facts): QuestionDrawer {
  const decks = new Map<string, Deck>();
  const deckOf = (kind: keyof TinyWorldMix, { relations = [], exclude = [] }: Wanted): Deck => {
    const without = exclude.map((name) => `-${name}`);
    const name = [kind, ...relations, ...without].join(" ");
    let deck = decks.get(name);
    if (deck === undefined) {
      const isWanted = (chain: readonly Relation[]): boolean =>
        (relations.length === 0 || relations.includes(chain.at(-1)?.name ?? "")) &&
        !chain.some((relation) => exclude.includes(relation.name));
      deck = shuffled(makeDeck(facts, kind, isWanted), facts.hash(`deck ${name}`, 0));
      decks.set(name, deck);
    }
    return deck;
  };
  return (number, wanted) => {
    const kind = pickKind(wanted.mix, facts.hash("kind", number));
    const deck = deckOf(kind, wanted);
    const bits = facts.hash("question", number);
    const isUnanswerable =
      kind.startsWith("bridge") &&
      isWithin(wanted.unanswerable ?? 0, facts.hash("unanswerable", number));
    for (let attempt = 0; attempt < MOST_TRIES; attempt++) {
      const place = (number + attempt * Math.ceil(deck.size / 8) + (attempt >>> 3)) % deck.size;
      const draft = deck.card(place, mix32(bits, attempt));
      const lacksAFact = draft?.steps.some(({ entity, fact }) =>
        facts.isMissing(entity, fact.relation),
      );
      if (draft !== null && lacksAFact === isUnanswerable) return draft;
    }
    throw new ConfigError("TINY_WORLD_TOO_SMALL", noQuestion(facts, kind, wanted, isUnanswerable));
  };
}

function noQuestion(
  facts: Facts,
  kind: keyof TinyWorldMix,
  { relations = [], exclude = [] }: Wanted,
  isUnanswerable: boolean,
): string {
  const limits = [
    ...(isUnanswerable ? ["that no passage answers"] : []),
    ...(relations.length === 0 ? [] : [`that asks for ${relations.join(" or ")}`]),
    ...(exclude.length === 0 ? [] : [`without ${exclude.join(", ")}`]),
  ];
  const asked = [`${kind} question`, ...limits].join(" ");
  const remedy = isUnanswerable
    ? 'Raise "missing" or set "unanswerable" to 0.'
    : `Raise "people" or set mix.${kind} to 0.`;
  return `tinyworld: a world of ${facts.counts.person} people has no ${asked}. ${remedy}`;
}

function makeDeck(
  facts: Facts,
  kind: keyof TinyWorldMix,
  isWanted: (chain: readonly Relation[]) => boolean,
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
      return comparisonDeck(facts, isWanted);
    case "yesNo":
      return yesNoDeck(facts, isWanted);
    case "intersect":
      return intersectDeck(facts, isWanted);
    case "compareChains":
      return compareChainsDeck(facts, isWanted);
  }
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
  const message = `tinyworld: mix is ${JSON.stringify(mix)}; at least one weight must be above 0.`;
  throw new ConfigError("RECIPE_BAD_VALUE", message);
}

function bridgeDeck(
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

/** An intersection's chains of relations from the answer outwards. */
export function conditionsOf({ x, y }: Intersection): readonly (readonly Relation[])[] {
  return [x, y].map((names) =>
    names.flatMap((name) => RELATIONS.filter((relation) => relation.name === name)),
  );
}

/** Questions for the one entity that meets two conditions, each of which several entities meet. Steps go from the names to the answer. */
function intersectDeck(facts: Facts, isWanted: (chain: readonly Relation[]) => boolean): Deck {
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
  for (const { relation } of chain.toReversed().map(({ fact }) => fact))
    found = found
      .flatMap((value) => facts.subjects(relation, value))
      .filter((entity) => only === undefined || !facts.isMissing(entity, relation));
  return found;
}

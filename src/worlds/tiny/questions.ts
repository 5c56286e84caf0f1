import { ConfigError } from "../../base/errors.ts";
import { bridgeDeck } from "./chains.ts";
import { type Deck, type Draft, shuffled } from "./decks.ts";
import { isWithin, type Facts } from "./facts.ts";
import { intersectDeck } from "./intersections.ts";
import { compareChainsDeck, comparisonDeck, yesNoDeck } from "./pairs.ts";
import { mix32 } from "./permutation.ts";
import type { Relation } from "./relations.ts";
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

/**
 * Question number j is a card of its kind's shuffled deck. The deck contains every question of the kind once (without its wording), so
 * small numbers never repeat one. A distant card replaces one that is not allowed.
 */
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
      if (draft !== null && lacksAFact(facts, draft) === isUnanswerable) return draft;
    }
    throw new ConfigError("TINY_WORLD_TOO_SMALL", noQuestion(facts, kind, wanted, isUnanswerable));
  };
}

/** Whether no passage states one of the question's facts. */
function lacksAFact(facts: Facts, { steps }: Draft): boolean {
  return steps.some(({ entity, fact }) => facts.isMissing(entity, fact.relation));
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
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `tinyworld: mix is ${JSON.stringify(mix)}; at least one weight must be above 0.`,
  );
}

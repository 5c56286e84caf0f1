import type { Wording } from "./relations.ts";

/** The sentences of a tiny world that state no relation: those of the knobs. A world without knobs uses none of them. */

/** Reference of a question that no passage answers. */
export const UNKNOWN = "unknown";

/** Label of an entity's main name in the step that starts from its second name: "real name of Aldo Brenn". */
export const ALIAS_LABEL = "real name";

/** Ways to state an entity's second name `{o}`. */
export const ALIAS_WORDINGS: readonly [Wording, Wording, Wording] = [
  { statement: "{ref} is also called {o}.", query: "called" },
  { statement: "{ref} is also known as {o}.", query: "known" },
  { statement: "{ref} has the nickname {o}.", query: "nickname" },
];

/** Beginnings of a wrong statement; each names a source that is less reliable than the encyclopedia. */
export const RUMOURS = [
  "A rumour says that",
  "Gossip claims that",
  "An unsigned letter claims that",
] as const;

/** Stores of facts, by their number; each writes a fact in its own style. */
export const SOURCES = ["encyclopedia", "table", "register"] as const;

export type Source = (typeof SOURCES)[number];

/** A fact in each store's style; the encyclopedia uses the relation's wordings. */
export const SOURCE_STYLES: Readonly<Record<Exclude<Source, "encyclopedia">, string>> = {
  table: "{label} : {o}.",
  register: "Filed under {label} is {o}.",
};

/**
 * Sentences without a fact that a question could ask for. They name another entity (`{person}`, `{town}`, `{firm}`) and share no word
 * with a relation's queries and labels, so they make passages long but match no query for a fact.
 */
export const FILLERS: readonly string[] = [
  "The weather is mild near {town}.",
  "Many letters to {person} are kept in a wooden box.",
  "A song about {town} is still sung by children.",
  "{person} once asked about it over dinner.",
  "Some say that {person} likes it very much.",
  "The road from {town} is long and quiet.",
  "Visitors often bring bread and fruit from {town}.",
  "A photograph of {person} hangs nearby.",
  "{firm} sells cups with a picture of it.",
  "There were talks with {firm} too, but nobody remembers why.",
  "The old bridge near {town} needs repair.",
  "Rain fell on {town} for a whole week.",
  "A cat of {person} sleeps on the roof.",
  "Some clocks of {firm} are always late.",
];

/** Beginning of a step that looks for a subject by its value: "whose birthplace is Wenzola Hurmund". */
export const INVERSE_STEP = "whose {label} is {o}";

/** A question whose answer meets two conditions, each a chain of relations that ends in `{x}` or `{y}`. */
export interface Intersection {
  readonly question: string;
  /** Names of relations, from the answer outwards. */
  readonly x: readonly string[];
  readonly y: readonly string[];
}

/** Only conditions that several entities can meet: a teacher has one pupil, a mayor one town. */
export const INTERSECTIONS: readonly Intersection[] = [
  {
    question: "Which person comes from {x} and works for {y}?",
    x: ["person-birthplace"],
    y: ["person-employer"],
  },
  {
    question: "Which person comes from a town in {x} and works for {y}?",
    x: ["person-birthplace", "town-region"],
    y: ["person-employer"],
  },
  {
    question: "Which work is set in a town in {x} and was written by someone who works for {y}?",
    x: ["work-setting", "town-region"],
    y: ["work-author", "person-employer"],
  },
  {
    question: "Which firm is based in a town in {x} and was founded by someone who works for {y}?",
    x: ["firm-seat", "town-region"],
    y: ["firm-founder", "person-employer"],
  },
];

/** All templates and words of this file. */
export const KNOB_TEXTS: readonly string[] = [
  UNKNOWN,
  ALIAS_LABEL,
  ...ALIAS_WORDINGS.map(({ statement }) => statement),
  ...RUMOURS,
  ...SOURCES,
  ...Object.values(SOURCE_STYLES),
  ...FILLERS,
  INVERSE_STEP,
  ...INTERSECTIONS.map(({ question }) => question),
];

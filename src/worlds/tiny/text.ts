import type { Facts } from "./facts.ts";
import { NAME_WORDS } from "./names.ts";
import { NOUNS, RELATIONS, type Relation, type Wording } from "./relations.ts";

/** The sentences of a tiny world that state no relation: those of the knobs. A world without knobs uses none of them. */

/** Reference of a question that no passage answers. */
export const UNKNOWN = "unknown";

/** Label of an entity's main name in the step that starts from its second name: "real name of Aldo Brenn". */
const ALIAS_LABEL = "real name";

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

/** Sentences without a fact: they name another entity and share no word with queries and labels, so they match no query for a fact. */
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
const INVERSE_STEP = "whose {label} is {o}";

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
const KNOB_TEXTS: readonly string[] = [
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

const PRONOUNS = ["He", "She", "It"];

/** Words that begin a statement; after the source of a rumour they stand in lower case. */
const BEGINNINGS = [...PRONOUNS, "The", "Its"];

/** Words and punctuation marks, case kept. @example tinyWorldWords("When was Bera Jardak born?") // ["When", "was", "Bera", "Jardak", …] */
export function tinyWorldWords(text: string): string[] {
  return text.match(/[A-Za-z]+|\d+|[^\sA-Za-z\d]/g) ?? [];
}

/** Every distinct word and sign, without the years, of any world, sorted, derived from templates and name pools. */
export function tinyWorldVocabulary(): string[] {
  const templates = RELATIONS.flatMap((relation) => [
    ...relation.wordings.flatMap(({ statement, query }) => [statement, query]),
    ...relation.phrases,
    ...relation.questions,
    relation.comparison ?? "",
    relation.same ?? "",
    step(relation, ""),
  ]);
  templates.push(...KNOB_TEXTS);
  const words = templates.flatMap((template) =>
    tinyWorldWords(template.replaceAll(/\{\w+\}/g, " ")),
  );
  const begins = BEGINNINGS.flatMap((word) => [word, word.toLowerCase()]);
  const all = [...words, ...NAME_WORDS, ...Object.values(NOUNS).flat(), ...begins];
  return [...new Set([...all, "yes", "no"])].sort();
}

/** The text of a fact's value. */
export function valueText(facts: Facts, relation: Relation, value: number): string {
  return relation.object === "year" ? String(value) : facts.name(value);
}

/** The question that follows a chain of relations from an entity outwards to its last value. @param bits selects among the wordings. */
export function chainQuestion(name: string, relations: readonly Relation[], bits: number): string {
  let x = name;
  for (const [i, relation] of relations.entries()) {
    const last = i === relations.length - 1;
    x = fill(choose(last ? relation.questions : relation.phrases, bits >>> (3 * i)), { x });
  }
  return x;
}

/** A noun phrase for a relation's value: "the mayor of Wenzola Hurmund". */
export function phrase(relation: Relation, x: string, bits: number): string {
  return fill(choose(relation.phrases, bits), { x });
}

/** One step of a chain, as a query: "birthplace of Aldo Brenn". */
export function step(relation: Relation, name: string): string {
  return `${relation.label} of ${name}`;
}

/** A step that looks for a subject by its value, as a query: "whose birthplace is Wenzola Hurmund". */
export function inverseStep(relation: Relation, value: string): string {
  return fill(INVERSE_STEP, { label: relation.label, o: value });
}

/** The step from a second name to the name, as a query: "real name of Aldo Brenn". */
export function aliasStep(alias: string): string {
  return `${ALIAS_LABEL} of ${alias}`;
}

/**
 * The queries that find a step's fact by a word of its statement, for the most frequent wording first.
 * @example stepQueries("birthplace of Aldo Brenn") // ["Aldo Brenn comes", "Aldo Brenn grew", "Aldo Brenn native"]
 */
export function stepQueries(label: string): string[] {
  const [, asked, name] = STEP.exec(label) ?? [];
  const wordings = asked === ALIAS_LABEL ? ALIAS_WORDINGS : relationLabelled(asked)?.wordings;
  return (wordings ?? []).map(({ query }) => `${name ?? ""} ${query}`);
}

/** The relation and name that a step asks about, or null. @example readStep("birthplace of Aldo Brenn") // { relation: …, name: … } */
export function readStep(label: string): { relation: Relation; name: string } | null {
  const [, asked, name] = STEP.exec(label) ?? [];
  const relation = relationLabelled(asked);
  const isInverse = label.startsWith("whose ");
  return relation === undefined || name === undefined || isInverse ? null : { relation, name };
}

function relationLabelled(label: string | undefined): Relation | undefined {
  return RELATIONS.find((relation) => relation.label === label);
}

/** A step of either direction: its label, and the name that it contains. */
const STEP = /^(?:whose )?(.+?) (?:of|is) (.+)$/;

/** Fills a template's slots. */
export function fill(template: string, slots: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_, slot: string) => slots[slot] ?? "");
}

function choose(options: readonly string[], bits: number): string {
  return options[(bits & 7) % options.length] ?? "";
}

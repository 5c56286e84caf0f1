import { RELATIONS_OF, type Facts } from "./facts.ts";
import { KNOB_TEXTS } from "./language.ts";
import { NAME_WORDS } from "./names.ts";
import type { Page } from "./pages.ts";
import { NOUNS, RELATIONS, WORDING_SHARES, type Relation, type Wording } from "./relations.ts";

const PRONOUNS = ["He", "She", "It"];

/** Words that begin a statement; after the source of a rumour they stand in lower case. */
const BEGINNINGS = [...PRONOUNS, "The", "Its"];

/**
 * Words and punctuation marks of the tiny world: splits letters, digits and signs, keeps case.
 *
 * @example tinyWorldWords("When was Bera Jardak born?") // ["When", "was", "Bera", "Jardak", "born", "?"]
 */
export function tinyWorldWords(text: string): string[] {
  return text.match(/[A-Za-z]+|\d+|[^\sA-Za-z\d]/g) ?? [];
}

/**
 * Every distinct word and sign, without the years, of any passage, question, answer or step of any world, sorted. Derived
 * from the templates and name pools: with the digits they cover the whole encyclopedia.
 */
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

/**
 * The sentences of a passage, one fact each.
 * @param wordings how many of a relation's wordings the world uses.
 */
export function passageSentences(
  facts: Facts,
  { entity, relations }: Page,
  wordings: number,
): string[] {
  const name = facts.name(entity);
  const noun = facts.noun(entity);
  const pronoun = facts.kind(entity) !== "person" ? "It" : /^\w+a /.test(name) ? "She" : "He";
  return relations.map((relation) => {
    const number = entity * 8 + RELATIONS_OF[relation.subject].indexOf(relation);
    const template = wordingOf(relation, facts.hash("wording", number), wordings).statement;
    const ref = facts.hash("reference", number) % 4 === 0 ? `The ${noun}` : pronoun;
    const o = valueText(facts, relation, facts.value(entity, relation));
    // The name would count twice in a passage of one sentence, and so outweigh the words of the fact.
    return fill(template, { s: relations.length === 1 ? pronoun : name, ref, noun, o });
  });
}

/** One of the relation's first `wordings` wordings, by their shares. */
function wordingOf(relation: Relation, bits: number, wordings: number): Wording {
  const shares = WORDING_SHARES.slice(0, wordings);
  let left = (bits / 2 ** 32) * shares.reduce((sum, share) => sum + share, 0);
  const at = shares.findIndex((share) => (left -= share) < 0);
  return relation.wordings[at] ?? relation.wordings[0];
}

/**
 * The question that follows a chain of relations from an entity to its last value.
 *
 * @param relations from the entity outwards; the question asks for the last one's value.
 * @param bits selects among the wordings.
 */
export function chainQuestion(name: string, relations: readonly Relation[], bits: number): string {
  let x = name;
  for (const [i, relation] of relations.entries()) {
    const last = i === relations.length - 1;
    x = fill(choose(last ? relation.questions : relation.phrases, bits >>> (3 * i)), { x });
  }
  return x;
}

/** One step of a chain, as a query: "birthplace of Aldo Brenn". */
export function step(relation: Relation, name: string): string {
  return `${relation.label} of ${name}`;
}

/**
 * The queries that find a step's fact by a word of its statement, for the most frequent wording first.
 * @param label the step: "birthplace of Aldo Brenn".
 * @example stepQueries("birthplace of Aldo Brenn") // ["Aldo Brenn comes", "Aldo Brenn grew", "Aldo Brenn native"]
 */
export function stepQueries(label: string): string[] {
  const relation = RELATIONS.find((each) => label.startsWith(`${each.label} of `));
  if (relation === undefined) return [];
  const name = label.slice(step(relation, "").length);
  return relation.wordings.map(({ query }) => `${name} ${query}`);
}

/** Fills a template's slots. */
export function fill(template: string, slots: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_, slot: string) => slots[slot] ?? "");
}

function choose(options: readonly string[], bits: number): string {
  return options[(bits & 7) % options.length] ?? "";
}

import type { Facts } from "./facts.ts";
import { NAME_WORDS } from "./names.ts";
import { NOUNS, RELATIONS, YEARS, type Relation } from "./relations.ts";

const PRONOUNS = ["He", "She", "It"];

/**
 * Words and punctuation marks of the tiny world: splits letters, digits and signs, keeps case.
 *
 * @example tinyWorldWords("When was Bera Jardak born?") // ["When", "was", "Bera", "Jardak", "born", "?"]
 */
export function tinyWorldWords(text: string): string[] {
  return text.match(/[A-Za-z]+|\d+|[^\sA-Za-z\d]/g) ?? [];
}

/**
 * Every distinct word, year and sign of any passage, question, answer or step of any world, sorted. Derived
 * from the templates and name pools: one token per entry covers the whole encyclopedia.
 */
export function tinyWorldVocabulary(): string[] {
  const templates = RELATIONS.flatMap((relation) => [
    ...relation.statements,
    ...relation.phrases,
    ...relation.questions,
    relation.comparison ?? "",
    relation.same ?? "",
    step(relation, ""),
  ]);
  const words = templates.flatMap((template) =>
    tinyWorldWords(template.replaceAll(/\{\w+\}/g, " ")),
  );
  const years = Array.from({ length: YEARS.last - YEARS.first + 1 }, (_, i) =>
    String(YEARS.first + i),
  );
  const all = [...words, ...NAME_WORDS, ...Object.values(NOUNS).flat(), ...years, ...PRONOUNS];
  return [...new Set([...all, "The", "yes", "no"])].sort();
}

/** The text of a fact's value. */
export function valueText(facts: Facts, relation: Relation, value: number): string {
  return relation.object === "year" ? String(value) : facts.name(value);
}

/** The sentences of an entity's passage, one fact each. */
export function passageSentences(facts: Facts, entity: number): string[] {
  const name = facts.name(entity);
  const noun = facts.noun(entity);
  const pronoun = facts.kind(entity) !== "person" ? "It" : /^\w+a /.test(name) ? "She" : "He";
  return facts.about(entity).map(({ relation, value }, i) => {
    const bits = facts.hash("wording", entity * 8 + i);
    const template = choose(relation.statements, bits >>> 2);
    const ref = bits % 4 === 0 ? `The ${noun}` : pronoun;
    return fill(template, { s: name, ref, noun, o: valueText(facts, relation, value) });
  });
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

/** Fills a template's slots. */
export function fill(template: string, slots: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_, slot: string) => slots[slot] ?? "");
}

function choose(options: readonly string[], bits: number): string {
  return options[(bits & 7) % options.length] ?? "";
}

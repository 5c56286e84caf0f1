import type { Facts } from "./facts.ts";
import { ALIAS_LABEL, ALIAS_WORDINGS, INVERSE_STEP, KNOB_TEXTS } from "./language.ts";
import { NAME_WORDS } from "./names.ts";
import { NOUNS, RELATIONS, type Relation } from "./relations.ts";

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

import { factNumber, type Facts } from "./facts.ts";
import { ALIAS_WORDINGS, FILLERS, RUMOURS, SOURCE_STYLES } from "./language.ts";
import type { Page } from "./pages.ts";
import { WORDING_SHARES, YEARS, type Relation, type Wording } from "./relations.ts";
import { fill, valueText } from "./text.ts";

/** A sentence of a passage, and what it states. */
export interface Sentence {
  text: string;
  /** Null: no fact (filler, rumour). */
  states: Relation | "alias" | null;
}

/** Settings of a world that change the text of its passages. */
export interface TextSettings {
  wordings: number;
  /** Sentences without a fact in each passage. */
  filler: number;
}

/** The sentences of passage `number`: its facts in order, and filler anywhere among them. */
export function passageSentences(
  facts: Facts,
  page: Page,
  number: number,
  { wordings, filler }: TextSettings,
): Sentence[] {
  const sentences = statements(facts, page, wordings);
  // A passage whose facts are all missing still has a text.
  const count = sentences.length === 0 ? Math.max(1, filler) : filler;
  for (let i = 0; i < count; i++) {
    const bits = facts.hash("filler", number * 64 + i);
    const text = fillerSentence(facts, page.entity, bits);
    sentences.splice(bits % (sentences.length + 1), 0, { text, states: null });
  }
  return sentences;
}

function statements(facts: Facts, page: Page, wordings: number): Sentence[] {
  const { entity, relations, source, content } = page;
  const bare = facts.bareName(entity);
  const noun = facts.noun(entity);
  const pronoun = facts.kind(entity) !== "person" ? "It" : /^\w+a /.test(bare) ? "She" : "He";
  if (content === "alias") {
    const { statement } = oneOf(ALIAS_WORDINGS, facts.hash("alias wording", entity), wordings);
    const o = facts.alias(entity) ?? "";
    return [{ text: fill(statement, { ref: pronoun, o }), states: "alias" }];
  }
  const state = (relation: Relation, value: number, s: string, mark: string): string => {
    const number = factNumber(entity, relation);
    const o = valueText(facts, relation, value);
    if (source !== "encyclopedia") return fill(SOURCE_STYLES[source], { label: relation.label, o });
    const bits = facts.hash(`${mark}wording`, number);
    const ref = facts.hash(`${mark}reference`, number) % 4 === 0 ? `The ${noun}` : pronoun;
    return fill(oneOf(relation.wordings, bits, wordings).statement, { s, ref, noun, o });
  };
  if (content === "rumour") {
    const doubted = relations.filter(
      (r) => wrongValue(facts, entity, r) !== facts.value(entity, r),
    );
    return doubted.map((relation) => {
      const number = factNumber(entity, relation);
      const said = state(relation, wrongValue(facts, entity, relation), pronoun, "rumour ");
      const from = RUMOURS[facts.hash("rumour", number) % RUMOURS.length] ?? RUMOURS[0];
      return { text: `${from} ${said[0]?.toLowerCase() ?? ""}${said.slice(1)}`, states: null };
    });
  }
  // The name would count twice in a passage of one sentence, and so outweigh the words of the fact.
  const s = relations.length === 1 ? pronoun : bare;
  return relations
    .filter((relation) => !facts.isMissing(entity, relation))
    .map((relation) => ({
      text: state(relation, facts.value(entity, relation), s, ""),
      states: relation,
    }));
}

/** A value of the relation that is not the true one. */
export function wrongValue(facts: Facts, entity: number, relation: Relation): number {
  const { object } = relation;
  const [first, count] =
    object === "year"
      ? [YEARS.first, YEARS.last - YEARS.first + 1]
      : [facts.offsets[object], facts.counts[object]];
  const shift = 1 + (facts.hash("wrong", factNumber(entity, relation)) % Math.max(1, count - 1));
  return first + ((facts.value(entity, relation) - first + shift) % count);
}

/** A sentence that names another entity and states no fact. */
function fillerSentence(facts: Facts, entity: number, bits: number): string {
  const template = FILLERS[(bits >>> 8) % FILLERS.length] ?? "";
  const name = (kind: "person" | "town" | "firm"): string => {
    const { [kind]: first } = facts.offsets;
    const { [kind]: count } = facts.counts;
    const other = first + (facts.hash("filler name", bits) % count);
    return facts.name(other === entity ? first + ((other - first + 1) % count) : other);
  };
  const text = template.replace(/\{(person|town|firm)\}/, (_, kind: "person" | "town" | "firm") =>
    name(kind),
  );
  return (text[0]?.toUpperCase() ?? "") + text.slice(1);
}

/** One of the first `wordings` wordings, by their shares. */
function oneOf(all: readonly [Wording, Wording, Wording], bits: number, wordings: number): Wording {
  const shares = WORDING_SHARES.slice(0, wordings);
  let left = (bits / 2 ** 32) * shares.reduce((sum, share) => sum + share, 0);
  const at = shares.findIndex((share) => (left -= share) < 0);
  return all[at] ?? all[0];
}

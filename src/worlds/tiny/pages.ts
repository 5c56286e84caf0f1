import { type Facts, RELATIONS_OF, factNumber } from "./facts.ts";
import { KINDS, type Kind } from "./names.ts";
import { permutation } from "./permutation.ts";
import { type Relation, WORDING_SHARES, type Wording, YEARS } from "./relations.ts";
import {
  ALIAS_WORDINGS,
  FILLERS,
  RUMOURS,
  SOURCES,
  SOURCE_STYLES,
  type Source,
  fill,
  valueText,
} from "./text.ts";
import type { PAGINGS } from "./tiny-world-settings.ts";

/** Settings of a world that change which passages it has. */
export interface PageSettings {
  passages: (typeof PAGINGS)[number];
  /** Number of stores; each fact is in one, by its relation. */
  sources: number;
  /** Share of facts about which another passage says something wrong. */
  contradicted: number;
}

/** What a passage says about an entity: facts, its second name, or one wrong fact from a less reliable source. */
interface Page {
  entity: number;
  content: "facts" | "alias" | "rumour";
  /** The stated facts; of a rumour, the fact that it contradicts. */
  relations: readonly Relation[];
  source: Source;
}

/** The passages of a world by number. */
export interface Pages {
  readonly size: number;
  page(number: number): Page;
  stating(entity: number, relation: Relation): number;
  naming(entity: number): number;
  about(entity: number): number[];
}

/** The store with the facts of a relation. */
export function sourceOf(relation: Relation, sources: number): Source {
  return SOURCES[RELATIONS_OF[relation.subject].indexOf(relation) % sources] ?? "encyclopedia";
}

/** Numbers the passages: facts entity by entity, then second names, then rumours. */
export function pagesOf(facts: Facts, { passages, sources, contradicted }: PageSettings): Pages {
  const groups = new Map(
    KINDS.map((kind) => [
      kind,
      passages === "fact"
        ? RELATIONS_OF[kind].map((relation) => [relation])
        : SOURCES.map((source) =>
            RELATIONS_OF[kind].filter((relation) => sourceOf(relation, sources) === source),
          ).filter((group) => group.length > 0),
    ]),
  );
  const groupsOf = (kind: Kind): readonly (readonly Relation[])[] => groups.get(kind) ?? [];
  const facing = numbering(facts, (kind) => groupsOf(kind).length);
  const ofFacts = numbering(facts, (kind) => RELATIONS_OF[kind].length);
  const rumours = Math.floor(ofFacts.size * contradicted);
  const doubted = permutation(ofFacts.size, facts.hash("contradicted", 0));
  const names = new Map<number, number>();
  for (let i = 0; i < facts.aliased.size; i++) names.set(facts.aliased.at(i), facing.size + i);
  const factPage = (number: number): Page => {
    const { entity, local } = facing.place(number);
    const relations = groupsOf(facts.kind(entity))[local] ?? [];
    const [first] = relations;
    const source = first === undefined ? "encyclopedia" : sourceOf(first, sources);
    return { entity, content: "facts", relations, source };
  };
  const rumourPage = (index: number): Page => {
    const { entity, local } = ofFacts.place(doubted.at(index));
    const relation = RELATIONS_OF[facts.kind(entity)][local];
    const relations = relation === undefined ? [] : [relation];
    return { entity, content: "rumour", relations, source: "encyclopedia" };
  };
  return {
    size: facing.size + facts.aliased.size + rumours,
    page: (number) => {
      if (number < facing.size) return factPage(number);
      const index = number - facing.size;
      if (index >= facts.aliased.size) return rumourPage(index - facts.aliased.size);
      const entity = facts.aliased.at(index);
      return { entity, content: "alias", relations: [], source: "encyclopedia" };
    },
    stating: (entity, relation) =>
      facing.first(entity) +
      groupsOf(relation.subject).findIndex((group) => group.includes(relation)),
    naming: (entity) => names.get(entity) ?? facing.first(entity),
    about: (entity) => groupsOf(facts.kind(entity)).map((_, i) => facing.first(entity) + i),
  };
}

/** Numbers (entity, local number) pairs entity by entity, with `each(kind)` locals per entity. */
function numbering(
  facts: Facts,
  each: (kind: Kind) => number,
): {
  size: number;
  first(entity: number): number;
  place(number: number): { entity: number; local: number };
} {
  const starts = new Map<Kind, number>();
  let size = 0;
  for (const kind of KINDS) {
    starts.set(kind, size);
    size += facts.counts[kind] * each(kind);
  }
  const startOf = (kind: Kind): number => starts.get(kind) ?? 0;
  return {
    size,
    first: (entity) => {
      const kind = facts.kind(entity);
      return startOf(kind) + (entity - facts.offsets[kind]) * each(kind);
    },
    place: (number) => {
      const kind = KINDS.findLast((known) => number >= startOf(known)) ?? "person";
      const within = number - startOf(kind);
      return {
        entity: facts.offsets[kind] + Math.floor(within / each(kind)),
        local: within % each(kind),
      };
    },
  };
}

/** A sentence of a passage, and what it states. */
export interface Sentence {
  text: string;
  /** Null: no fact (filler, rumour). */
  states: Relation | "alias" | null;
}

/** Settings of a world that change the text of its passages. */
export type TextSettings = { wordings: number; filler: number };

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

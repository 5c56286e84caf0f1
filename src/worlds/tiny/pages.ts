import { RELATIONS_OF, type Facts } from "./facts.ts";
import { SOURCES, type Source } from "./language.ts";
import { KINDS, type Kind } from "./names.ts";
import { permutation } from "./permutation.ts";
import type { Relation } from "./relations.ts";
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
export interface Page {
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
  /** Numbers of the passages with facts about an entity. */
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

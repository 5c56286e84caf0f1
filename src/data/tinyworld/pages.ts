import { RELATIONS_OF, type Facts } from "./facts.ts";
import { KINDS } from "./names.ts";
import type { Relation } from "./relations.ts";

/** Which facts share a passage: all of an entity, or none. */
export const PAGINGS = ["entity", "fact"] as const;

export type Paging = (typeof PAGINGS)[number];

/** The facts that a passage states, all about one entity. */
export interface Page {
  entity: number;
  relations: readonly Relation[];
}

/** The passages of a world by number. */
export interface Pages {
  readonly size: number;
  page(number: number): Page;
  /** Number of the passage that states this fact. */
  stating(entity: number, relation: Relation): number;
  /** Numbers of all passages about an entity. */
  about(entity: number): number[];
}

/** Numbers the passages: with `entity` as the entities, with `fact` entity by entity. */
export function pagesOf(facts: Facts, paging: Paging): Pages {
  if (paging === "entity") {
    return {
      size: facts.size,
      page: (entity) => ({ entity, relations: RELATIONS_OF[facts.kind(entity)] }),
      stating: (entity) => entity,
      about: (entity) => [entity],
    };
  }
  const starts = new Map<string, number>();
  let size = 0;
  for (const kind of KINDS) {
    starts.set(kind, size);
    size += facts.counts[kind] * RELATIONS_OF[kind].length;
  }
  const first = (entity: number): number => {
    const kind = facts.kind(entity);
    return (starts.get(kind) ?? 0) + (entity - facts.offsets[kind]) * RELATIONS_OF[kind].length;
  };
  return {
    size,
    page: (number) => {
      const kind = KINDS.findLast((each) => number >= (starts.get(each) ?? 0)) ?? "person";
      const relations = RELATIONS_OF[kind];
      const local = number - (starts.get(kind) ?? 0);
      const relation = relations[local % relations.length];
      const entity = facts.offsets[kind] + Math.floor(local / relations.length);
      return { entity, relations: relation === undefined ? [] : [relation] };
    },
    stating: (entity, relation) => first(entity) + RELATIONS_OF[relation.subject].indexOf(relation),
    about: (entity) => RELATIONS_OF[facts.kind(entity)].map((_, i) => first(entity) + i),
  };
}

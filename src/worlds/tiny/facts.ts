import { seedFrom } from "../../base/random.ts";
import { KINDS, type Kind, type Namer, namer } from "./names.ts";
import { type Permutation, type TinyWorldSplit, mix32, permutation } from "./permutation.ts";
import { NOUNS, RELATIONS, type Relation, YEARS } from "./relations.ts";

/** Settings of a world that change its names and facts. */
export interface FactSettings {
  /** Share of people, works and events that share their name with another of their kind. */
  namesakes: number;
  /** Share of entities with a second name. */
  aliases: number;
  /** Share of facts that no passage states. */
  missing: number;
}

/** One fact about an entity. */
export interface Fact {
  relation: Relation;
  /** An entity (its number in the world), or the year itself when the relation's object is "year". */
  value: number;
}

/** The facts of one world, computed on demand. Entities of all kinds share one numbering. */
export interface Facts {
  readonly size: number;
  readonly counts: Readonly<Record<Kind, number>>;
  /** Number of the first entity of a kind. */
  readonly offsets: Readonly<Record<Kind, number>>;
  kind(entity: number): Kind;
  /** Unambiguous: "Fala Rosholt", or "the painter Fala Rosholt" where another entity has the name. */
  name(entity: number): string;
  /** The name alone, which two entities may share. */
  bareName(entity: number): string;
  /** Title of its passages: "Fala Rosholt", or "Fala Rosholt, painter". */
  title(entity: number): string;
  /** Its second name, if it has one; no other entity has it. */
  alias(entity: number): string | null;
  /** The entities with a second name, by number from 0. */
  readonly aliased: { readonly size: number; at(index: number): number };
  /** Whether no passage states the fact. */
  isMissing(entity: number, relation: Relation): boolean;
  noun(entity: number): string;
  value(entity: number, relation: Relation): number;
  /** In the order of the sentences in the entity's passage. */
  about(entity: number): Fact[];
  /** All entities whose passages name this one, including itself. */
  mentioning(entity: number): number[];
  /** Entities with this value; the value must be an entity. */
  subjects(relation: Relation, value: number): number[];
  /** Entities of the kind whose names start with the same word. */
  alike(entity: number, limit: number): number[];
  /** 32 deterministic random bits for this label and number in this world. */
  hash(label: string, number: number): number;
}

const SHARES: Record<Kind, number> = {
  person: 1,
  town: 4,
  region: 20,
  firm: 10,
  work: 4,
  event: 20,
};

/** Relations by subject, in the order of the passage's sentences. */
export const RELATIONS_OF: Readonly<Record<Kind, readonly Relation[]>> = mapKinds((kind) =>
  RELATIONS.filter((relation) => relation.subject === kind),
);

/**
 * The facts of a world of `people` persons. A seeded, invertible permutation spreads a relation's values evenly, so that "which passages
 * name this entity" needs no index: with n subjects and m objects a value is `π(i) mod m` over max(n, m) numbers. Teachers form one cycle,
 * and the capital of a region is one of its towns. Years are independent: a firm may be older than its founder.
 */
export function tinyWorldFacts(
  seed: number,
  split: TinyWorldSplit,
  people: number,
  { namesakes, aliases, missing }: FactSettings,
): Facts {
  const keys = new Map<string, number>();
  const hash = (label: string, number: number): number => {
    let key = keys.get(label);
    if (key === undefined) {
      key = seedFrom("tinyworld", seed, split, label);
      keys.set(label, key);
    }
    return mix32(key, number);
  };
  const counts = mapKinds((kind) => Math.ceil(people / SHARES[kind]));
  const offsets = mapKinds((kind) =>
    KINDS.slice(0, KINDS.indexOf(kind)).reduce((sum, before) => sum + counts[before], 0),
  );
  const namers = mapKinds((kind): Namer =>
    // Names beyond the entities' own are their second names.
    namer(kind, split, counts[kind] * (aliases > 0 ? 2 : 1), hash("names", KINDS.indexOf(kind))),
  );
  const size = KINDS.reduce((sum, kind) => sum + counts[kind], 0);
  const kind = (entity: number): Kind => KINDS.findLast((k) => entity >= offsets[k]) ?? "person";
  const links = new Map(
    RELATIONS.flatMap((relation) =>
      relation.object === "year"
        ? []
        : [
            [
              relation.name,
              spread(counts[relation.subject], counts[relation.object], hash(relation.name, 0)),
            ],
          ],
    ),
  );
  const regionOf = links.get("town-region");
  if (regionOf !== undefined) links.set("region-capital", inverse(regionOf, counts.region));
  links.set("person-teacher", cycle(counts.person, hash("person-teacher", 0)));

  const value = (entity: number, relation: Relation): number => {
    const local = entity - offsets[relation.subject];
    if (relation.object === "year")
      return YEARS.first + (hash(relation.name, local) % (YEARS.last - YEARS.first + 1));
    return offsets[relation.object] + (links.get(relation.name)?.of(local) ?? 0);
  };
  const subjects = (relation: Relation, object: number): number[] => {
    if (relation.object === "year") return [];
    const found = links.get(relation.name)?.whose(object - offsets[relation.object]) ?? [];
    return found.map((local) => offsets[relation.subject] + local);
  };
  const noun = (entity: number): string => {
    const nouns = NOUNS[kind(entity)];
    const first = firstOfPair(entity);
    // Nouns tell namesakes apart.
    const shift =
      first === null || first === entity ? 0 : 1 + (hash("noun", entity) % (nouns.length - 1));
    return nouns[(hash("noun", first ?? entity) + shift) % nouns.length] ?? "";
  };
  const firstOfPair = (entity: number): number | null => {
    const own = kind(entity);
    const local = entity - offsets[own];
    const first = local - (local % 2);
    if (NOUNS[own].length === 1 || first + 1 >= counts[own]) return null;
    return isWithin(namesakes, hash("namesakes", offsets[own] + first))
      ? offsets[own] + first
      : null;
  };
  const bareName = (entity: number): string => {
    const own = kind(entity);
    return namers[own].name((firstOfPair(entity) ?? entity) - offsets[own]);
  };
  const aliasOrder = permutation(size, hash("aliases", 0));
  const aliased = { size: Math.floor(size * aliases), at: (index: number) => aliasOrder.at(index) };
  return {
    size,
    counts,
    offsets,
    kind,
    bareName,
    name: (entity) =>
      firstOfPair(entity) === null ? bareName(entity) : `the ${noun(entity)} ${bareName(entity)}`,
    title: (entity) =>
      firstOfPair(entity) === null ? bareName(entity) : `${bareName(entity)}, ${noun(entity)}`,
    alias: (entity) => {
      if (aliasOrder.indexOf(entity) >= aliased.size) return null;
      const own = kind(entity);
      return namers[own].name(counts[own] + entity - offsets[own]);
    },
    aliased,
    isMissing: (entity, relation) =>
      isWithin(missing, hash("missing", factNumber(entity, relation))),
    noun,
    value,
    about: (entity) =>
      RELATIONS_OF[kind(entity)].map((relation) => ({ relation, value: value(entity, relation) })),
    mentioning: (entity) => {
      const own = kind(entity);
      const others = RELATIONS.filter((relation) => relation.object === own);
      return [entity, ...others.flatMap((relation) => subjects(relation, entity))];
    },
    subjects,
    alike: (entity, limit) => {
      const own = kind(entity);
      return namers[own]
        .alike(entity - offsets[own], limit)
        .filter((local) => local < counts[own])
        .map((local) => offsets[own] + local);
    },
    hash,
  };
}

/** Number of a fact, for hashes. */
export function factNumber(entity: number, relation: Relation): number {
  return entity * 8 + RELATIONS_OF[relation.subject].indexOf(relation);
}

/** Whether 32 random bits fall within a share from 0 to 1. */
export function isWithin(share: number, bits: number): boolean {
  return bits < share * 2 ** 32;
}

type Link = { of(subject: number): number; whose(object: number): number[] };

function spread(subjects: number, objects: number, key: number): Link {
  const order = permutation(Math.max(subjects, objects), key);
  return {
    of: (subject) => order.at(subject) % objects,
    whose: (object) => {
      const found: number[] = [];
      for (let at = object; at < order.size; at += objects) {
        const subject = order.indexOf(at);
        if (subject < subjects) found.push(subject);
      }
      return found;
    },
  };
}

function cycle(size: number, key: number): Link {
  const order: Permutation = permutation(size, key);
  return {
    of: (subject) => order.indexOf((order.at(subject) + 1) % size),
    whose: (object) => [order.indexOf((order.at(object) + size - 1) % size)],
  };
}

/** The first subject of each object of `link`: the capital among a region's towns. */
function inverse(link: Link, objects: number): Link {
  const first = (object: number): number => link.whose(object)[0] ?? 0;
  return {
    of: first,
    whose: (subject) => {
      const object = link.of(subject);
      return object < objects && first(object) === subject ? [object] : [];
    },
  };
}

function mapKinds<T>(make: (kind: Kind) => T): Record<Kind, T> {
  return {
    person: make("person"),
    town: make("town"),
    region: make("region"),
    firm: make("firm"),
    work: make("work"),
    event: make("event"),
  };
}

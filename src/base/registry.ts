import { ConfigError, InternalError } from "./errors.ts";
import { suggest } from "./nearest.ts";

/** The kinds of parts that a plugin may contain: the helper that makes one, and the function by which it is used (null: it is data). */
export const PART_KINDS = {
  reward: { helper: "defineReward", runs: "score" },
  "advantage estimator": { helper: "defineEstimator", runs: "estimate" },
  loss: { helper: "defineLoss", runs: "build" },
  algorithm: { helper: "defineAlgorithm", runs: "losses" },
  sampler: { helper: "defineSampler", runs: "open" },
  filter: { helper: "defineFilter", runs: "keep" },
  "preference loss": { helper: "definePreferenceLoss", runs: "pairLoss" },
  protocol: { helper: "defineProtocol", runs: "create" },
  tool: { helper: "defineTool", runs: "create" },
  environment: { helper: "defineEnvironment", runs: "create" },
  retriever: { helper: "defineRetriever", runs: "open" },
  strategy: { helper: "defineStrategy", runs: "run" },
  hint: { helper: "defineHint", runs: "open" },
  dataset: { helper: "defineDataset", runs: "open" },
  "question layout": { helper: "defineLayout", runs: "read" },
  "corpus layout": { helper: "defineLayout", runs: "read" },
  teacher: { helper: "defineTeacher", runs: "open" },
  world: { helper: "defineWorld", runs: "parts" },
  stage: { helper: "defineStage", runs: "run" },
  "synthesis step": { helper: "defineStep", runs: "open" },
  "sample scorer": { helper: "defineScorer", runs: "open" },
  "sample selector": { helper: "defineSelector", runs: "select" },
  "task annotation": { helper: "defineAnnotation", runs: "open" },
  metric: { helper: "defineMetric", runs: "score" },
  "judge prompt": { helper: "defineJudgePrompt", runs: null },
  alarm: { helper: "defineAlarm", runs: "check" },
  reporter: { helper: "defineReporter", runs: "open" },
} as const satisfies Record<string, { helper: `define${string}`; runs: string | null }>;

export type PartKind = keyof typeof PART_KINDS;

/** The folder of a kind's template. @example templateOf("judge prompt") // "judge-prompt", by defineJudgePrompt */
export function templateOf(kind: PartKind): string {
  const words = PART_KINDS[kind].helper.slice("define".length).split(/(?=[A-Z])/);
  return words.join("-").toLowerCase();
}

/** The fields of every registered part. Lists, help and hints are derived from them. */
export interface Part {
  readonly name: string;
  readonly summary: string;
  /** The kind of registry, set by its define… helper; absent for kinds that plugins cannot extend. */
  readonly part?: PartKind;
}

export interface Registry<P extends Part> {
  readonly kind: string;
  readonly names: readonly string[];
  readonly added: readonly P[];
  /** Every part. @throws {InternalError} PART_NOT_LOADED before `all()`, where parts load on demand. */
  readonly parts: readonly P[];
  readonly loaded: readonly P[];
  /** The part with this name. @throws {ConfigError} PART_UNKNOWN with the nearest name. @throws {PartNotLoaded} until it is loaded. */
  get(name: string, where: string): P;
  load(name: string, where: string): Promise<P>;
  all(): Promise<readonly P[]>;
}

/** A part was read before it was loaded; `withParts` loads it. */
export class PartNotLoaded extends InternalError {
  readonly load: () => Promise<unknown>;

  constructor(message: string, load: () => Promise<unknown>) {
    super("PART_NOT_LOADED", message);
    this.load = load;
  }
}

/** Runs a side-effect-free function that reads parts by name: each part that it asks for is loaded, and the function runs again. */
export async function withParts<T>(read: () => T): Promise<T> {
  for (;;) {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof PartNotLoaded)) throw error;
      await error.load();
    }
  }
}

/** What a function within `withParts` loads when it needs it. @returns gives it, or throws PartNotLoaded before it is loaded. */
export function deferred<T>(load: () => Promise<T>): () => T {
  let loaded: { value: T } | null = null;
  return () => {
    if (loaded !== null) return loaded.value;
    throw new PartNotLoaded("a module is not loaded.", async () => {
      loaded = { value: await load() };
    });
  };
}

/** How each part of a name is loaded that is not loaded yet, of whatever kind. */
export function loadersOf(name: string): (() => Promise<Part>)[] {
  return [...openRegistries.values()].flatMap((each) => each.loaderOf(name) ?? []);
}

type PartLoader<P extends Part> = () => Promise<P>;

const openRegistries = new Map<string, OpenRegistry>();

interface OpenRegistry {
  parts: Registry<Part>;
  add(part: Part): void;
  /** How the part of a name is loaded; null: it is loaded, or there is none. */
  loaderOf(name: string): (() => Promise<Part>) | null;
}

const waiting: Part[] = [];

/**
 * The explicit list of all parts of a kind; `addPart` adds those of plugins. @param parts the parts, or by name how each is loaded.
 * @throws {InternalError} PART_TWICE at start-up when two parts have the same name.
 */
export function registry<P extends Part>(
  kind: string,
  parts: readonly P[] | Readonly<Record<string, PartLoader<P>>>,
): Registry<P> {
  const byName = new Map<string, P | PartLoader<P>>(
    isList(parts) ? parts.map((part) => [part.name, part]) : Object.entries(parts),
  );
  if (isList(parts) && byName.size < parts.length) {
    const twice = parts.find((part) => byName.get(part.name) !== part)?.name;
    throw new InternalError("PART_TWICE", `registry of ${kind}s: "${twice}" is registered twice.`);
  }
  const added = new Set<P>();
  const add = (part: Part): void => {
    const known = byName.get(part.name);
    if (known !== undefined && known !== part) {
      const message = `the ${kind} "${part.name}" already exists. Rename the plugin's part.`;
      throw new ConfigError("PLUGIN_BAD_PART", message);
    }
    byName.set(part.name, part as P);
    added.add(part as P);
  };
  const find = (name: string, where: string): P | PartLoader<P> => {
    const found = byName.get(name);
    if (found !== undefined) return found;
    const message = `${where} is "${name}"; no such ${kind}. ${suggest(name, [...byName.keys()])}`;
    throw new ConfigError("PART_UNKNOWN", message);
  };
  const load = async (name: string, where: string): Promise<P> => {
    const found = find(name, where);
    const part = typeof found === "function" ? await found() : found;
    byName.set(name, part);
    return part;
  };
  const loadAll = (): Promise<P[]> =>
    Promise.all([...byName.keys()].map((name) => load(name, kind)));
  const loaded = (): P[] => [...byName.values()].filter((each) => typeof each !== "function");
  const all: Registry<P> = {
    kind,
    get names() {
      return [...byName.keys()];
    },
    get added() {
      return [...added];
    },
    get parts() {
      const known = loaded();
      if (known.length === byName.size) return known;
      throw new PartNotLoaded(`not every ${kind} is loaded.`, loadAll);
    },
    get loaded() {
      return loaded();
    },
    get(name, where) {
      const found = find(name, where);
      if (typeof found !== "function") return found;
      throw new PartNotLoaded(`${where}: the ${kind} "${name}" is not loaded.`, () =>
        load(name, where),
      );
    },
    load,
    all: loadAll,
  };
  openRegistries.set(kind, {
    parts: all,
    add,
    loaderOf: (name) => (typeof byName.get(name) === "function" ? () => load(name, kind) : null),
  });
  for (const part of waiting.filter((each) => each.part === kind)) add(part);
  return all;
}

/** The registry of a kind, for parts that name others of their own kind. @throws {InternalError} PART_UNKNOWN when it is not loaded. */
export function registryOf<P extends Part>(kind: PartKind): Registry<P> {
  const found = openRegistries.get(kind);
  if (found !== undefined) return found.parts as Registry<P>;
  throw new InternalError("PART_UNKNOWN", `the registry of ${kind}s is not loaded.`);
}

function isList<P>(parts: readonly P[] | Readonly<Record<string, unknown>>): parts is readonly P[] {
  return Array.isArray(parts);
}

/** Adds a plugin's part to its registry, now or when that loads. @throws {ConfigError} PLUGIN_BAD_PART when the name is taken. */
export function addPart(part: Part & { part: PartKind }): void {
  waiting.push(part);
  openRegistries.get(part.part)?.add(part);
}

/** The parts of a kind that plugins brought, whether or not their registry is loaded. */
export function addedParts<P extends Part>(kind: PartKind): P[] {
  return waiting.filter((part) => part.part === kind) as P[];
}

/** Whether a registry that is loaded has a part of this name. */
export function isPart(kind: PartKind, name: string): boolean {
  return openRegistries.get(kind)?.parts.names.includes(name) ?? false;
}

type MemberType = "function" | "text" | "list" | "object" | "boolean" | "schema";

/** Members that an object must have, by name. */
export type Members = Readonly<Record<string, MemberType>>;

/**
 * Checks what a define… helper receives, since a plugin may be plain JavaScript. @param functions those without which the part cannot work.
 * @throws {ConfigError} PLUGIN_BAD_PART naming the first member that is missing.
 */
export function requireDescribed(
  kind: PartKind,
  described: { readonly name: string },
  functions: readonly string[],
  more: Members = {},
): void {
  const members = { ...Object.fromEntries(functions.map((name) => [name, "function"])), ...more };
  const wrong = firstWrong(described, members as Members);
  if (wrong === null) return;
  const message = `${kind} "${described.name}": ${wrong}. docs/extend.md shows each kind of part; agentrl new writes one that works.`;
  throw new ConfigError("PLUGIN_BAD_PART", message);
}

/** Checks what a function of a part (`what`) returned. @throws {ConfigError} PLUGIN_FAILED naming the first missing member. */
export function requireReturned(what: string, returned: unknown, members: Members): void {
  const wrong = isObject(returned)
    ? firstWrong(returned, members)
    : `expected an object with ${Object.keys(members).join(", ")}`;
  if (wrong === null) return;
  const given = isObject(returned) ? "" : ` ${shown(returned)}`;
  const message = `${what} returned${given === "" ? " an object whose" : `${given}:`} ${wrong}. Correct its code.`;
  throw new ConfigError("PLUGIN_FAILED", message);
}

const EXPECTED: Record<MemberType, string> = {
  function: "a function",
  text: "text",
  list: "a list",
  object: "an object",
  boolean: "true or false",
  schema: "z.strictObject({ … })",
};

/** `step is undefined: expected a function`; null where all members are as they must be. */
function firstWrong(object: object, members: Members): string | null {
  for (const [name, type] of Object.entries(members)) {
    const value = (object as Record<string, unknown>)[name];
    if (!hasType(value, type)) return `${name} is ${shown(value)}: expected ${EXPECTED[type]}`;
  }
  return null;
}

function hasType(value: unknown, type: MemberType): boolean {
  if (type === "text") return typeof value === "string";
  if (type === "list") return Array.isArray(value);
  if (type === "schema") return isObject(value) && "_zod" in value;
  return type === "object" ? isObject(value) : typeof value === type;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function shown(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (typeof value === "string") return JSON.stringify(value);
  if (isObject(value)) return Array.isArray(value) ? "a list" : "an object";
  return String(value);
}

import { ConfigError, InternalError } from "./errors.ts";
import { suggest } from "./nearest.ts";

/**
 * The kinds of parts that a plugin may contain: the helper that makes one, and the function by which it is used (null: it is data). The
 * kind's template of `agentrl new` is named after the helper: defineJudgePrompt, judge-prompt.
 */
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
  /** File name = registered name = recipe value. */
  readonly name: string;
  /** One sentence for lists and help. */
  readonly summary: string;
  /** The kind of registry, set by its define… helper; absent for kinds that plugins cannot extend. */
  readonly part?: PartKind;
}

export interface Registry<P extends Part> {
  readonly kind: string;
  readonly parts: readonly P[];
  readonly names: readonly string[];
  /** Those of plug-ins among the parts. */
  readonly added: readonly P[];
  /**
   * The part with this name.
   * @param where the recipe key or flag with the name, for the message.
   * @throws {ConfigError} PART_UNKNOWN with the nearest name.
   */
  get(name: string, where: string): P;
}

/** The registries of the modules loaded so far, by kind, each with the function that adds a plugin's part. */
const openRegistries = new Map<string, { parts: Registry<Part>; add(part: Part): void }>();

/** Plugin parts whose registry is not loaded yet. */
const waiting: Part[] = [];

/**
 * The list of all parts of a kind. It is explicit, so that the compiler checks it and the order is stable; `addPart` adds those of plugins.
 * @throws {InternalError} PART_TWICE at start-up when two parts have the same name.
 */
export function registry<P extends Part>(kind: string, parts: readonly P[]): Registry<P> {
  const byName = new Map<string, P>();
  for (const part of parts) {
    if (byName.has(part.name)) {
      throw new InternalError(
        "PART_TWICE",
        `registry of ${kind}s: "${part.name}" is registered twice.`,
      );
    }
    byName.set(part.name, part);
  }
  const added = new Set<P>();
  const add = (part: Part): void => {
    const known = byName.get(part.name);
    if (known !== undefined && known !== part) {
      throw new ConfigError(
        "PLUGIN_BAD_PART",
        `the ${kind} "${part.name}" already exists. Rename the plugin's part.`,
      );
    }
    byName.set(part.name, part as P);
    added.add(part as P);
  };
  const all: Registry<P> = {
    kind,
    get parts() {
      return [...byName.values()];
    },
    get names() {
      return [...byName.keys()];
    },
    get added() {
      return [...added];
    },
    get(name, where) {
      const part = byName.get(name);
      if (part === undefined) {
        throw new ConfigError(
          "PART_UNKNOWN",
          `${where} is "${name}"; no such ${kind}. ${suggest(name, [...byName.keys()])}`,
        );
      }
      return part;
    },
  };
  openRegistries.set(kind, { parts: all, add });
  for (const part of waiting.filter((each) => each.part === kind)) add(part);
  return all;
}

/**
 * The registry of a kind, for parts that name others of their own kind: a module that the registry imports cannot import it.
 * @throws {InternalError} PART_UNKNOWN when no module with the registry is loaded.
 */
export function registryOf<P extends Part>(kind: PartKind): Registry<P> {
  const found = openRegistries.get(kind);
  if (found !== undefined) return found.parts as Registry<P>;
  throw new InternalError("PART_UNKNOWN", `the registry of ${kind}s is not loaded.`);
}

/**
 * Adds a plugin's part to the registry of its kind, now or when that registry loads.
 * @throws {ConfigError} PLUGIN_BAD_PART when the name is taken.
 */
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

import { definedValues } from "./defined-values.ts";
import { leavesOf } from "./leaves.ts";
import {
  type Members,
  PART_KINDS,
  type Part,
  type PartKind,
  PartNotLoaded,
  type Registry,
  loadersOf,
  requireDescribed,
  withParts,
} from "./registry.ts";
import { schedulable } from "./schedule.ts";
import { choice, parseOptions, quote, z } from "./schema.ts";
import { suggest } from "./nearest.ts";

/** A call of a part's function, for checks of what it returned. */
export interface MadeCall<Args> {
  /** The part and its function, for messages: `filter "mine": keep`. */
  what: string;
  name: string;
  args: Args;
  part: object;
}

interface FunctionRule<F> {
  /** Place of the part's options among its arguments, if it takes them. They are checked before each call. */
  at?: number;
  /** True: the options are passed as they are. */
  unchecked?: true;
  /** The file of a part may leave the function out, or write a constant in its place: what it then returns. */
  otherwise?: F extends (...args: never) => infer T ? T : never;
  /** Whether it returns a promise; the function in the file of a part need not. */
  async?: true;
  /** Checks what the file's function returned, and completes it. @throws {ConfigError} PLUGIN_FAILED */
  returned?: F extends (...args: infer Args) => infer T
    ? (made: never, call: MadeCall<Args>) => Awaited<T>
    : never;
}

type FunctionRules<P> = { readonly [K in keyof P]?: FunctionRule<NonNullable<P[K]>> };

type KindRules<R, D> = { functions: R; members?: Members; defaults?: D };

/** A part as its file writes it: its options are typed by their schema, and optional where there are none. */
export type Described<P, S extends z.ZodObject, R, D> = Omit<
  P,
  "part" | "options" | keyof R | keyof D
> &
  Partial<Pick<P, keyof D & keyof P>> &
  ("options" extends keyof P ? { options?: S } : unknown) & {
    [K in keyof Pick<P, Exclude<keyof R & keyof P, Optional<R>>>]: Written<P[K], R[K & keyof R], S>;
  } & { [K in Optional<R> & keyof P]?: Written<P[K], R[K & keyof R], S> | ResultOf<P[K]> };

type Optional<R> = { [K in keyof R]: R[K] extends { otherwise: unknown } ? K : never }[keyof R];

type ResultOf<F> = NonNullable<F> extends (...args: never) => infer T ? T : never;

/** A function with options of the part's own type; what it returns is what its rule reads, a promise or not. */
type Written<F, Rule, S extends z.ZodObject> = F extends (...args: infer Args) => infer T
  ? (
      ...args: WithOptions<Args, Rule, z.output<S>>
    ) => Rule extends { returned: (made: infer M, ...rest: never) => unknown }
      ? T extends Promise<unknown>
        ? M | Promise<M>
        : M
      : T extends Promise<infer M>
        ? M | Promise<M>
        : T
  : F;

type WithOptions<Args, Rule, Options> = {
  [I in keyof Args]-?: Rule extends { at: infer At extends number }
    ? I extends `${At}`
      ? Options
      : Args[I]
    : Args[I];
};

/**
 * The define… function of a kind of part: checks its members, adds defaults, and checks options before they reach its functions.
 * @example const defineFilter = definer<Filter>()("filter", { functions: { keep: { at: 1 } } });
 */
export function definer<P extends Part>() {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- no defaults
  return <const R extends FunctionRules<P>, const D extends Partial<P> = {}>(
      kind: PartKind,
      { functions, members, defaults }: KindRules<R, D>,
    ) =>
    <S extends z.ZodObject>(described: Described<P, S, R, D>): P => {
      const rules = Object.entries(functions as Record<string, LooseRule>);
      const takesOptions = rules.some(([, { at }]) => at !== undefined);
      const own = takesOptions ? { options: z.strictObject({}) } : {};
      const given = { ...own, ...defaults, ...definedValues(described) } as Given;
      const { runs } = PART_KINDS[kind];
      requireDescribed(kind, given, runs === null ? [] : [runs], {
        ...(takesOptions ? { options: "schema" } : {}),
        ...members,
      });
      const part: Record<string, unknown> = { ...given, part: kind };
      for (const [own, rule] of rules) {
        const what = `${kind} "${given.name}": ${own}`;
        part[own] = functionOf(given[own], rule, { what, given });
      }
      return part as unknown as P;
    };
}

interface Given extends Record<string, unknown> {
  name: string;
  options: z.ZodObject;
}

type LooseFunction = (...args: unknown[]) => unknown;

interface LooseRule {
  at?: number;
  unchecked?: true;
  otherwise?: unknown;
  async?: true;
  returned?: (made: unknown, call: MadeCall<unknown[]>) => unknown;
}

function functionOf(
  written: unknown,
  { at, unchecked, otherwise, async: isAsync, returned }: LooseRule,
  { what, given }: { what: string; given: Given },
): LooseFunction | undefined {
  if (written === undefined && otherwise === undefined) return undefined;
  if (typeof written !== "function") return () => written ?? otherwise;
  const { name, options } = given;
  const called = (args: unknown[]): unknown => {
    const all = [...args];
    if (at !== undefined && unchecked !== true)
      all[at] = parseOptions(options, args[at] ?? {}, name);
    return (written as LooseFunction).apply(given, all);
  };
  const checked = (made: unknown, args: unknown[]): unknown =>
    returned === undefined ? made : returned(made, { what, name, args, part: given });
  return isAsync === true
    ? async (...args) => checked(await called(args), args)
    : (...args) => checked(called(args), args);
}

/** A part with options in the recipe. */
export interface PartWithOptions extends Part {
  /** Its options without its name. Unknown keys are errors. */
  readonly options: z.ZodObject;
}

/** A part in a checked recipe: its name and its options, with defaults. */
export type PartSettings<P extends PartWithOptions, Extra extends z.ZodRawShape = z.ZodRawShape> = {
  name: P["name"];
} & (P extends PartWithOptions ? z.output<P["options"]> : never) &
  z.output<z.ZodObject<Extra>>;

/**
 * The schema of a value that selects a part: `{ name: grpo, groupSize: 8 }`, or `grpo` alone; the part's `options` check the other keys.
 * @param extra keys that this place adds to every part, such as a reward's `weight`.
 * @param options.scheduled every number may be a schedule; the code that runs the part must call `resolveSchedules`.
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- no extra keys
export function partSchema<P extends PartWithOptions, Extra extends z.ZodRawShape = {}>(
  registry: Registry<P>,
  extra?: Extra,
  { scheduled = false }: { scheduled?: boolean } = {},
): z.ZodType<PartSettings<P, Extra>> {
  const made = new WeakMap<P, z.ZodType<PartSettings<P, Extra>>>();
  const schemaOf = (part: P): z.ZodType<PartSettings<P, Extra>> => {
    const known = made.get(part);
    if (known !== undefined) return known;
    // `name` comes first in written settings. The refinements of the part's schema (conditions over several options)
    // stay in force.
    const demands = (part.options.def.checks ?? []) as z.core.$ZodCheck<object>[];
    const own = scheduled ? schedulable(part.options.shape) : part.options.shape;
    const schema = z
      .strictObject({ name: z.literal(part.name), ...own, ...extra })
      .check(...demands) as unknown as z.ZodType<PartSettings<P, Extra>>;
    made.set(part, schema);
    return schema;
  };
  return choice(
    (given) => {
      const value = typeof given === "string" ? { name: given } : given;
      const name = nameOf(value);
      if (name === undefined) {
        const message = `is ${quote(given)}: expected the name of one ${registry.kind}, alone or as { name: …, options }. Known: ${registry.names.join(", ")}.`;
        return { problem: { code: "RECIPE_BAD_VALUE", message } };
      }
      if (!registry.names.includes(name)) {
        const message = `is "${name}"; no such ${registry.kind}. ${suggest(name, registry.names)}`;
        return { problem: { code: "PART_UNKNOWN", message } };
      }
      return { schema: schemaOf(registry.get(name, registry.kind)), value };
    },
    () => registry.loaded.map(({ options }) => options),
  );
}

/** The schema of a recipe value that is the name of a part without options, such as a judge prompt. */
export function partName<P extends Part>(registry: Registry<P>): z.ZodType<string> {
  return choice(
    (value) => {
      if (typeof value === "string" && registry.names.includes(value))
        return { schema: z.string(), value };
      const hint =
        typeof value === "string"
          ? suggest(value, registry.names)
          : `Known: ${registry.names.join(", ")}.`;
      const message = `is ${quote(value)}; no such ${registry.kind}. ${hint}`;
      return { problem: { code: "PART_UNKNOWN", message } };
    },
    () => [z.enum(registry.names)],
  );
}

const schemaLoaders: (() => Promise<void>)[] = [];

/** A schema whose module is loaded when a value needs it: its check throws PartNotLoaded before. */
export function onDemand<T>(load: () => Promise<z.ZodType<T>>): z.ZodType<T> {
  let known: z.ZodType<T>[] = [];
  const loading = async (): Promise<void> => {
    known = [await load()];
  };
  schemaLoaders.push(loading);
  return choice(
    (value) => {
      const [schema] = known;
      if (schema === undefined) throw new PartNotLoaded("a schema is not loaded.", loading);
      return { schema, value };
    },
    () => known,
  );
}

/** Loads every schema on demand and the parts that texts name: for functions that read schemas without checking settings. */
export async function loadSchemas(texts: readonly unknown[]): Promise<void> {
  await Promise.all(schemaLoaders.map((load) => load()));
  await withNamedParts(texts, () => null);
}

/** Runs a side-effect-free function with the parts that the settings' texts and their defaults name loaded; it may run several times. */
export async function withNamedParts<T>(settings: unknown, read: () => T): Promise<T> {
  const texts = new Set([...leavesOf(settings)].map(([, value]) => value));
  const unread = (): (() => Promise<Part>)[] =>
    [...texts].flatMap((text) => (typeof text === "string" ? loadersOf(text) : []));
  // A part may bring a registry of its own.
  for (let loaders = unread(); loaders.length > 0; loaders = unread()) {
    const parts = await Promise.all(loaders.map((load) => load()));
    for (const { options } of parts as Partial<PartWithOptions>[])
      await withParts(() => options?.safeParse({}));
  }
  return withParts(read);
}

function nameOf(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || !("name" in value)) return undefined;
  return typeof value.name === "string" ? value.name : undefined;
}

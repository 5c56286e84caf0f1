import { leavesOf } from "./leaves.ts";
import { suggest } from "./nearest.ts";
import { loadersOf, type Part, PartNotLoaded, type Registry, withParts } from "./registry.ts";
import { schedulable } from "./schedule.ts";
import { choice, quote, z } from "./schema.ts";

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
      const part = registry.get(name, registry.kind);
      // `name` comes first in written settings. The refinements of the part's schema (conditions over several options)
      // stay in force.
      const demands = (part.options.def.checks ?? []) as z.core.$ZodCheck<object>[];
      const own = scheduled ? schedulable(part.options.shape) : part.options.shape;
      const schema = z
        .strictObject({ name: z.literal(part.name), ...own, ...extra })
        .check(...demands) as unknown as z.ZodType<PartSettings<P, Extra>>;
      return { schema, value };
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

/** How each schema on demand is loaded. */
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

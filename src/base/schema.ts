import { z } from "zod";
import { ConfigError, type ErrorCode } from "./errors.ts";
import { suggest } from "./nearest.ts";

/** Only this file imports zod; every part's `options` use this export. */
export { z };

/** What is wrong with a value, with the code and message of an AgentrlError. */
export interface OptionProblem {
  code: ErrorCode;
  path: string[];
  /** The rest of the sentence after the place: `is "a": expected number. …`. */
  message: string;
}

/**
 * Checks a value from a recipe, flag or file. @param where the place, for the message: `recipes/a.yaml: algorithm`.
 * @throws {ConfigError} RECIPE_UNKNOWN_KEY, RECIPE_BAD_VALUE, PART_UNKNOWN: what was found, what is allowed, the nearest name.
 */
export function parseOptions<S extends z.ZodType>(
  schema: S,
  value: unknown,
  where: string,
): z.output<S> {
  const result = checkOptions(schema, value);
  if (result.problem === null) return result.value;
  const { code, path, message } = result.problem;
  throw new ConfigError(code, `${[where, ...path].join(".")} ${message}`);
}

/** `parseOptions` that returns the first problem instead of throwing it. */
export function checkOptions<S extends z.ZodType>(
  schema: S,
  value: unknown,
): { problem: null; value: z.output<S> } | { problem: OptionProblem } {
  const result = schema.safeParse(value);
  if (result.success) return { problem: null, value: result.data };
  // A misspelt key often causes a "missing" issue too; the misspelling is more helpful.
  const { issues } = result.error;
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
  if (issue === undefined) throw result.error;
  return { problem: describe(schema, value, issue) };
}

const MOST_WRONG = 20;

/** A list of plain values that may be very long, checked in one pass. @param expected what an item is: "a whole number". */
export function plainList<T>(
  isItem: (item: unknown) => item is T,
  expected: string,
): z.ZodType<T[]> {
  return z.custom<T[]>(Array.isArray, "expected a list").superRefine((list: unknown, context) => {
    if (!Array.isArray(list)) return;
    let wrong = 0;
    for (let i = 0; i < list.length && wrong < MOST_WRONG; i++) {
      if (isItem(list[i])) continue;
      context.addIssue({ code: "custom", path: [i], message: `expected ${expected}` });
      wrong += 1;
    }
  });
}

/** A list that is refused for its length before its items are checked. */
export function shortList<S extends z.ZodType>(
  list: z.ZodArray<S>,
  most: number,
): z.ZodType<z.output<S>[]> {
  const isShort = (value: unknown): boolean => Array.isArray(value) && value.length <= most;
  const message = `expected a list of at most ${most} items`;
  return z.custom<z.input<S>[]>(isShort, { message, abort: true }).pipe(list);
}

/** Whole numbers, such as token ids. */
export const wholeNumbers = plainList(
  (item): item is number => Number.isSafeInteger(item),
  "a whole number",
);

interface Alternatives {
  all: () => readonly z.ZodType[];
  fitting: (value: unknown) => z.ZodType | null;
}

const alternativesOf = new WeakMap<z.ZodType, Alternatives>();

/** A schema that chooses another by the value, which it may rewrite; problems read as if that one were used alone. @param alternatives all. */
export function choice<T>(
  choose: (
    value: unknown,
  ) =>
    { schema: z.ZodType<T>; value: unknown } | { problem: Pick<OptionProblem, "code" | "message"> },
  alternatives: () => readonly z.ZodType[] = () => [],
): z.ZodType<T> {
  const chosen = z.unknown().transform((value, context): T => {
    const chosen = choose(value);
    const result =
      "problem" in chosen
        ? { problem: { path: [], ...chosen.problem } }
        : checkOptions(chosen.schema, chosen.value);
    if (result.problem === null) return result.value;
    const { code, path, message } = result.problem;
    context.addIssue({ code: "custom", path, message, params: { code } });
    return z.NEVER;
  });
  const fitting = (value: unknown): z.ZodType | null => {
    const found = choose(value);
    return "problem" in found ? null : found.schema;
  };
  alternativesOf.set(chosen, { all: alternatives, fitting });
  return chosen;
}

/** A schema, what it wraps (optional, default), and the alternatives of a choice, outermost first. */
export function unwrapped(schema: z.ZodType): z.ZodType[] {
  return layersOf(schema, ({ all }) => all());
}

function layersOf(
  schema: z.ZodType,
  take: (alternatives: Alternatives) => z.ZodType | readonly z.ZodType[],
): z.ZodType[] {
  if (schema instanceof z.ZodLazy) return layersOf(schema.unwrap() as z.ZodType, take);
  const inner = unwrapOnce(schema);
  if (inner !== null) return [schema, ...layersOf(inner, take)];
  const alternatives = alternativesOf.get(schema) ?? unionAlternatives(schema);
  const taken = alternatives === undefined ? [] : [take(alternatives)].flat();
  return [schema, ...taken.flatMap((each) => layersOf(each, take))];
}

/** Of a discriminated union, only what fits a value: without one, its alternatives are of different parts. */
function unionAlternatives(schema: z.ZodType): Alternatives | undefined {
  if (!(schema instanceof z.ZodDiscriminatedUnion)) return undefined;
  const options = schema.options as readonly z.ZodType[];
  const fitting = (value: unknown): z.ZodType | null =>
    options.find((each) => each.safeParse(value).success) ?? null;
  return { all: () => [], fitting };
}

/** What an object, list or record holds under a key; nothing where it has no such key. */
export function schemasOfKey(schema: z.ZodType, key: string): z.ZodType[] {
  const found: unknown =
    schema instanceof z.ZodObject
      ? schema.shape[key]
      : schema instanceof z.ZodArray
        ? schema.element
        : schema instanceof z.ZodRecord
          ? schema.valueType
          : undefined;
  return found instanceof z.ZodType ? [found] : [];
}

/** A value below checked settings, with what the schemas that hold it declare (`meta`). */
export type Declared = { path: string[]; value: unknown; meta: Readonly<Record<string, unknown>> };

/** Every value of checked settings at any depth, themselves included, with its declarations; of a choice, those of the chosen schema. */
export function* declarationsIn(
  schema: z.ZodType,
  value: unknown,
  path: string[] = [],
): Generator<Declared> {
  const layers = layersOf(schema, ({ fitting }) => fitting(value) ?? []);
  const meta = Object.assign({}, ...layers.map((each) => each.meta())) as Declared["meta"];
  yield { path, value, meta };
  if (typeof value !== "object" || value === null) return;
  for (const [key, item] of Object.entries(value))
    for (const child of layers.flatMap((each) => schemasOfKey(each, key)))
      yield* declarationsIn(child, item, [...path, key]);
}

function describe(schema: z.ZodType, value: unknown, issue: z.core.$ZodIssue): OptionProblem {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys") {
    const key = issue.keys[0] ?? "";
    const message = `is not a key here. ${suggest(key, knownKeys(schema, issue.path))}`;
    return { code: "RECIPE_UNKNOWN_KEY", path: [...path, key], message };
  }
  if (issue.code === "custom" && issue.params?.["code"] !== undefined)
    return { code: issue.params["code"] as ErrorCode, path, message: issue.message };
  const found = foundAt(value, issue.path);
  return { code: "RECIPE_BAD_VALUE", path, message: `is ${quote(found)}: ${wording(issue)}.` };
}

/** A value for a message: as JSON, truncated; "missing" when undefined. */
export function quote(value: unknown): string {
  if (value === undefined) return "missing";
  // A long one is not written out to be cut.
  const isLong = typeof value === "string" || Array.isArray(value);
  const text = asText(isLong ? value.slice(0, 101) : value);
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`;
}

/** As JSON, or as JavaScript writes what JSON cannot: NaN, functions, values that contain themselves. */
function asText(value: unknown): string {
  if (["number", "bigint", "symbol", "function"].includes(typeof value)) return String(value);
  try {
    return JSON.stringify(value);
  } catch {
    return String(value);
  }
}

/** What the schema allows, in plain words. */
function wording(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_value":
      return `allowed: ${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
    case "too_small":
      return `expected ${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}${unitOf(issue.origin)}`;
    case "too_big":
      return `expected ${issue.inclusive === false ? "less than" : "at most"} ${issue.maximum}${unitOf(issue.origin)}`;
    case "invalid_type":
      return `expected ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
    default:
      return issue.message.replace(/^Invalid input: /, "");
  }
}

const TYPE_NAMES: Partial<Record<string, string>> = {
  int: "a whole number",
  number: "a number",
  string: "text",
  boolean: "true or false",
  array: "a list",
  object: "keys and values",
  record: "keys and values",
};

function unitOf(origin: string): string {
  if (origin === "array" || origin === "set") return " items";
  return origin === "string" ? " characters" : "";
}

function knownKeys(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at: unknown = schema;
  for (const key of path) {
    at = unwrap(at);
    if (at instanceof z.ZodObject) at = at.shape[String(key)];
    else if (at instanceof z.ZodArray) at = at.element;
    else if (at instanceof z.ZodRecord) at = at.valueType;
    else return [];
  }
  at = unwrap(at);
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
}

function unwrap(schema: unknown): unknown {
  let at = schema;
  for (let inner = unwrapOnce(at); inner !== null; inner = unwrapOnce(at)) at = inner;
  return at;
}

function unwrapOnce(schema: unknown): z.ZodType | null {
  const isWrapper =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodNullable;
  return isWrapper ? (schema.unwrap() as z.ZodType) : null;
}

function foundAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== "object" || at === null) return undefined;
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  return at;
}

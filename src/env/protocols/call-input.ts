import type { ToolSchema } from "../../http/chat-messages.ts";

/** A tool's arguments as its schema has them. */
export interface Declared {
  required?: string[];
  properties?: Record<string, { type?: string }>;
  additionalProperties?: unknown;
}

/** null: a tool that is not known. */
export function declaredOf(name: string, tools: readonly ToolSchema[]): Declared | null {
  return tools.find((tool) => tool.function.name === name)?.function.parameters ?? null;
}

/** Models add arguments that a schema lacks. */
export function onlyDeclared(
  given: object,
  { properties, additionalProperties = false }: Declared,
): object {
  if (properties === undefined || additionalProperties !== false) return given;
  return Object.fromEntries(
    Object.entries(given).filter(([key]) => Object.hasOwn(properties, key)),
  );
}

/** What keeps arguments from being an input: a tool with one text takes any input as that text, so they are checked before. */
export function argumentProblem(
  name: string,
  given: object,
  declared: Declared | null,
): string | null {
  const { required = [], properties = {} } = declared ?? {};
  const missing = required.find((key) => !Object.hasOwn(given, key));
  if (missing !== undefined) return `the call of ${name} lacks the argument ${missing}`;
  const wrong = Object.entries(given).find(
    ([key, value]) => properties[key]?.type === "string" && typeof value !== "string",
  );
  return wrong === undefined ? null : `the argument ${wrong[0]} of ${name} is no text`;
}

/** A call's arguments as input: the text of the tool's first argument where it is alone, else JSON. @param declared null: unknown tool. */
export function inputOf(given: object, declared: Declared | null = null): string {
  const names = Object.keys(declared?.properties ?? given);
  const [only, ...more] = Object.entries(given) as [string, unknown][];
  const takesText = names.length === 1 && declared?.properties?.[names[0] ?? ""]?.type === "string";
  if (only === undefined) return takesText ? "" : JSON.stringify(given);
  const [name, value] = only;
  // A text that reads as JSON would be taken for all arguments of a tool that has several.
  const isText = typeof value === "string" && (names.length === 1 || !/^\s*\{/.test(value));
  return isText && more.length === 0 && name === names[0] ? value.trim() : JSON.stringify(given);
}

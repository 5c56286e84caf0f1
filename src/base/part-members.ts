import { ConfigError } from "./errors.ts";
import type { PartKind } from "./registry.ts";

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

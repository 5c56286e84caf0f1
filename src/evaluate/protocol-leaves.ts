import { leavesOf } from "../base/leaves.ts";

/**
 * A protocol's values by path, as text; parts of a list by their names, budgets by scope and unit.
 * @example protocolLeaves({ budgets: [{ scope: "turn", unit: "tokens", limit: 48 }] }) // [["budgets.turn-tokens.limit", "48"]]
 */
export function protocolLeaves(protocol: unknown): [key: string, value: string][] {
  return [...leavesOf(byName(protocol))].map(([keys, value]) => [
    keys.join("."),
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
}

/** Lists of parts as objects by name; a list with a nameless or repeated part stays a list. */
function byName(value: unknown): unknown {
  if (Array.isArray(value)) {
    const parts = value.map((part) => namedPart(part));
    const names = new Set(parts.map((part) => part?.name));
    return value.length > 0 && names.size === value.length && !names.has(undefined)
      ? Object.fromEntries(parts.map((part) => [part?.name, byName(part?.rest)]))
      : value.map(byName);
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, byName(inner)]));
}

function namedPart(part: unknown): { name: string; rest: object } | null {
  if (typeof part !== "object" || part === null) return null;
  const { name, ...other } = part as Record<string, unknown>;
  if (typeof name === "string") return { name, rest: other };
  const { scope, unit, ...rest } = other;
  return typeof scope === "string" && typeof unit === "string"
    ? { name: `${scope}-${unit}`, rest }
    : null;
}

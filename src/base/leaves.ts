/** Every scalar (and empty list or object) of a value, with its key path, in order. */
export function* leavesOf(
  value: unknown,
  keys: readonly string[] = [],
): Generator<[readonly string[], unknown]> {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (entries.length === 0) yield [keys, value];
  for (const [key, item] of entries) yield* leavesOf(item, [...keys, key]);
}

/** What stands at a key path; undefined where nothing does. */
export function valueAt(value: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (at, key) =>
      typeof at === "object" && at !== null ? (at as Record<string, unknown>)[key] : undefined,
    value,
  );
}

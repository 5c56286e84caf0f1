/**
 * An object without its undefined values, for what tells a missing key from an undefined one: metrics, headers, and options of
 * libraries that look for keys. @returns typed as if every value were there; optional ones stay optional where the result is used.
 */
export function definedValues<T extends object>(
  record: T,
): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== undefined),
  ) as never;
}

/** An object without its undefined values: for metrics, headers, and libraries that look for keys. @returns typed as if all were there. */
export function definedValues<T extends object>(
  record: T,
): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== undefined),
  ) as never;
}

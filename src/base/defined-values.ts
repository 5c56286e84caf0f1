/** A record without its undefined values, for metrics, headers and feeds that some entries are left out of. */
export function definedValues<V>(
  record: Readonly<Record<string, V | undefined>>,
): Record<string, V> {
  return Object.fromEntries(
    Object.entries(record).filter((entry): entry is [string, V] => entry[1] !== undefined),
  );
}

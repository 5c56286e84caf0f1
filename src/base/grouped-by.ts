/** Items by key, keys and items in the order of their first appearance. */
export function groupedBy<K, T>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** As `groupedBy`, with a value of each item in its place. */
export function valuesBy<K, T, V>(
  items: Iterable<T>,
  keyOf: (item: T) => K,
  valueOf: (item: T) => V,
): Map<K, V[]> {
  const groups = [...groupedBy(items, keyOf)];
  return new Map(groups.map(([key, members]) => [key, members.map(valueOf)]));
}

import type { ViewerEntry } from "../viewer/contract.ts";

/** The filters. */
export interface Filter {
  query: string;
  /** By position of the facet; absent: any. */
  facets: ReadonlyMap<number, string>;
}

/**
 * Positions of the matching entries, in order.
 * @param text lower-case text of an entry's details; undefined before it is loaded: only the entry's own lines count.
 */
export function matching(
  entries: readonly ViewerEntry[],
  { query, facets }: Filter,
  text: (index: number) => string | undefined,
): number[] {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const found: number[] = [];
  entries.forEach((entry, index) => {
    for (const [facet, wanted] of facets) if ((entry.facets[facet] ?? "–") !== wanted) return;
    if (words.length > 0) {
      const own = `${entry.id}\n${entry.title}\n${entry.subtitle}`.toLowerCase();
      const all = text(index);
      if (!words.every((word) => own.includes(word) || all?.includes(word) === true)) return;
    }
    found.push(index);
  });
  return found;
}

/** The values of a facet with their number of entries: numbers by size, else the most frequent first. */
export function facetValues(
  entries: readonly ViewerEntry[],
  facet: number,
): { value: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const entry of entries) {
    const value = entry.facets[facet] ?? "–";
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const values = [...counts].map(([value, count]) => ({ value, count }));
  const numeric = values.every(({ value }) => /^\d/.test(value) || value === "–");
  return values.sort((a, b) =>
    numeric ? a.value.localeCompare(b.value, "en", { numeric: true }) : b.count - a.count,
  );
}

import type { Results } from "./results-schema.ts";
import { byProtocol, type Comparable } from "./same-protocol.ts";
import { datasetsOf, matrixOf, matrixPlaces, type MatrixRow } from "./score-matrix.ts";

/** Results of one dataset. */
export interface OnDataset<T> {
  /** null: the report has one dataset, or its results have no places in a matrix. */
  dataset: string | null;
  protocols: Comparable<T>[];
}

/** Results as a report shows them. */
export interface Comparison<T> {
  /** null unless there are several datasets. */
  matrix: MatrixRow[] | null;
  /** Only results of one dataset are compared: every dataset has a protocol of its own. */
  parts: OnDataset<T>[];
}

/**
 * Groups results by dataset and protocol. Several results are named by their policies where these distinguish them; else the names stay.
 * @param across parts of the protocol that may differ between comparable results.
 * @throws {ConfigError} USAGE when `across` names no part.
 */
export function compareResults<T extends { name: string; results: Results }>(
  measured: readonly T[],
  across: readonly string[],
): Comparison<T> {
  const results = measured.map((own) => own.results);
  const places = measured.length > 1 ? matrixPlaces(results) : null;
  if (places === null)
    return { matrix: null, parts: [{ dataset: null, protocols: byProtocol(measured, across) }] };
  const named = measured.map((own, i) => ({ ...own, name: places[i]?.policy ?? own.name }));
  const datasets = datasetsOf(places);
  if (datasets.length === 1)
    return { matrix: null, parts: [{ dataset: null, protocols: byProtocol(named, across) }] };
  const parts = datasets.map((dataset) => {
    const own = named.filter((_, i) => places[i]?.dataset === dataset);
    return { dataset, protocols: byProtocol(own, across) };
  });
  return { matrix: matrixOf(results, places), parts };
}

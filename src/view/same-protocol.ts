import { ConfigError } from "../base/errors.ts";
import { suggest } from "../base/nearest.ts";
import { protocolLeaves } from "../evaluate/protocol-leaves.ts";
import type { Results } from "./results-schema.ts";
import { datasetsOf, matrixOf, matrixPlaces, type MatrixRow } from "./score-matrix.ts";

/** Results that are comparable: of one protocol, or of protocols that differ only where the user allows it. */
export interface Comparable<T> {
  /** Comma-separated if results differ on purpose. */
  fingerprint: string;
  of: T[];
}

type Measured = Pick<Results, "fingerprint" | "protocol">;

/**
 * Comparable results together, in order of first appearance.
 *
 * @param across parts of the protocol that may differ within a group, which then has several fingerprints.
 * @throws {ConfigError} USAGE when `across` names no part.
 */
export function byProtocol<T extends { results: Measured }>(
  files: readonly T[],
  across: readonly string[] = [],
): Comparable<T>[] {
  requireParts(across, files);
  const groups = new Map<string, T[]>();
  for (const file of files) {
    const { fingerprint, protocol } = file.results;
    const fixed = Object.entries(protocol).filter(([part]) => !across.includes(part));
    const key = across.length === 0 ? fingerprint : JSON.stringify(Object.fromEntries(fixed));
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  return [...groups.values()].map((of) => ({
    fingerprint: [...new Set(of.map(({ results }) => results.fingerprint))].join(", "),
    of,
  }));
}

function requireParts(across: readonly string[], files: readonly { results: Measured }[]): void {
  const parts = [...new Set(files.flatMap(({ results }) => Object.keys(results.protocol)))];
  const stray = across.find((part) => !parts.includes(part));
  if (stray === undefined) return;
  throw new ConfigError(
    "USAGE",
    `--across names "${stray}", which is no part of these results' protocols. ${suggest(stray, parts)}`,
  );
}

/** A part of the protocol in which results differ. */
export interface ProtocolDifference {
  /** Its path: `environment.budgets.turn-tokens.limit`. */
  key: string;
  /** One value per protocol, as text; null if absent. */
  values: (string | null)[];
}

/** All differences between protocols, leaf by leaf. */
export function protocolDifferences(protocols: readonly unknown[]): ProtocolDifference[] {
  const leaves = protocols.map((protocol) => new Map(protocolLeaves(protocol)));
  const keys = [...new Set(leaves.flatMap((own) => [...own.keys()]))];
  return keys
    .map((key) => ({ key, values: leaves.map((own) => own.get(key) ?? null) }))
    .filter(({ values }) => new Set(values).size > 1);
}

/** Results of one dataset. */
export interface OnDataset<T> {
  /** null: the report has one dataset, or its results have no places in a matrix. */
  dataset: string | null;
  protocols: Comparable<T>[];
}

/** Results as a report shows them. */
interface Comparison<T> {
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

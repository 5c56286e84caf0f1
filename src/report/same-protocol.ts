import { leavesOf } from "../base/leaves.ts";
import type { Results } from "./results-schema.ts";

/** Results with the same protocol: only these are comparable. */
export interface Comparable<T> {
  fingerprint: string;
  of: T[];
}

/** Results by fingerprint, in order of first appearance. */
export function byProtocol<T extends { results: Pick<Results, "fingerprint"> }>(
  files: readonly T[],
): Comparable<T>[] {
  const groups = new Map<string, T[]>();
  for (const file of files) {
    const { fingerprint } = file.results;
    groups.set(fingerprint, [...(groups.get(fingerprint) ?? []), file]);
  }
  return [...groups].map(([fingerprint, of]) => ({ fingerprint, of }));
}

/** A part of the protocol in which results differ. */
export interface ProtocolDifference {
  /** Its path: `environment.budgets.0.limit`. */
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

/** A protocol's values by path, as text. @example protocolLeaves({ topK: { a: 3 } }) // [["topK.a", "3"]] */
export function protocolLeaves(protocol: unknown): [key: string, value: string][] {
  return [...leavesOf(protocol)].map(([keys, value]) => [
    keys.join("."),
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
}

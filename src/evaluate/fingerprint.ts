import { sha256 } from "../base/files.ts";

/** Everything that a result depends on beside the policy: results with different parts are not comparable. */
export interface ProtocolParts {
  dataset: string;
  questions: number;
  /** Fingerprint of corpus, analyzer and ranking. */
  retriever: string;
  /** Passages shown per search, by path in the environment's settings: `{ "tools.0.topK": 3 }`. */
  topK: Readonly<Record<string, unknown>>;
  strategy: string | Readonly<{ name: string } & Record<string, unknown>>;
  /** Environment with protocol, tools, budgets: its settings, including all defaults. */
  environment: unknown;
  prompt: string;
  /** How prompt and replies are rendered for the policy; absent: unchanged. */
  rendering?: unknown;
  sampling: unknown;
  metrics: string;
  /** sha256 of the plugins that environment, retriever and strategy come from, by file name; absent without any. */
  plugins?: Readonly<Record<string, string>>;
}

/** A protocol's parts and their hash. */
export type Fingerprint = { hex: string; parts: ProtocolParts };

/** The hash that a result carries, however the keys of `environment` are ordered. @example fingerprintOf(parts).hex // "3f0c91be6a27" */
export function fingerprintOf(parts: ProtocolParts): Fingerprint {
  return { hex: shortHash(parts), parts };
}

/** Twelve hexadecimal digits that change with any value inside, not with the order of keys. */
export function shortHash(value: unknown): string {
  return sha256(JSON.stringify(sorted(value))).slice(0, 12);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}

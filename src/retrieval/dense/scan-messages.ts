import type { SentError } from "../../base/errors.ts";
import type { FileEntry } from "../store/checked-file.ts";
import type { ScanOptions } from "./vector-scan.ts";

/** What a scanning worker is started with. */
export interface ScanStart extends ScanOptions {
  path: string;
  entry: FileEntry;
}

/** One batch of queries; the last one is answered before the next is sent. */
export interface ScanRequest {
  queries: Float32Array;
  k: number;
}

/** `ready` after opening; then per request the hits of all queries, one after the other. */
export type ScanReply =
  | { ready: true }
  | { counts: Uint32Array; positions: Float64Array; scores: Float64Array }
  | { failure: SentError };

/** The worker thread of exact search over its share of the vectors, for `openFlatSearch`. */
import { workerData } from "node:worker_threads";
import { openCheckedFile } from "../store/checked-file.ts";
import { answerRequests } from "../thread.ts";
import {
  openVectorScan,
  type PackedHits,
  type ScanRequest,
  type ScanStart,
} from "./vector-scan.ts";

const { path, entry, ...options } = workerData as ScanStart;
let scan: ReturnType<typeof openVectorScan> | null = null;

// eslint-disable-next-line @typescript-eslint/require-await -- an error must reject, not throw
answerRequests(async (request: ScanRequest | "open"): Promise<PackedHits | null> => {
  scan ??= openVectorScan(openCheckedFile(path, entry, options.foreign), options);
  if (request === "open") return null;
  const hits = scan.search(request.queries, request.k);
  const all = hits.flat();
  return {
    counts: Uint32Array.from(hits, (each) => each.length),
    positions: Float64Array.from(all, ({ position }) => position),
    scores: Float64Array.from(all, ({ score }) => score),
  };
});

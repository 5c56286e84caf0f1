/** A worker thread's entry: exact search over its share of the vectors. */
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { sendError } from "../../base/errors.ts";
import { openCheckedFile } from "../store/checked-file.ts";
import type { Scored } from "../top-k.ts";
import { type ScanReply, type ScanRequest, type ScanStart, openVectorScan } from "./vector-scan.ts";

function serve(port: MessagePort, { path, entry, ...options }: ScanStart): void {
  const reply = (make: () => ScanReply): void => {
    try {
      port.postMessage(make());
    } catch (error) {
      port.postMessage({ failure: sendError(error) } satisfies ScanReply);
    }
  };
  let search: ((request: ScanRequest) => Scored[][]) | null = null;
  reply(() => {
    const scan = openVectorScan(openCheckedFile(path, entry), options);
    search = ({ queries, k }) => scan.search(queries, k);
    return { ready: true };
  });
  port.on("message", (request: ScanRequest) => reply(() => packed(search?.(request) ?? [])));
}

function packed(hits: Scored[][]): ScanReply {
  const all = hits.flat();
  return {
    counts: Uint32Array.from(hits, (each) => each.length),
    positions: Float64Array.from(all, ({ position }) => position),
    scores: Float64Array.from(all, ({ score }) => score),
  };
}

if (parentPort !== null) serve(parentPort, workerData as ScanStart);

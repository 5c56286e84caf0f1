import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** A collection of a worker's small heap takes some milliseconds: less is left to V8. */
const WORTH_BYTES = 128e6;

/**
 * Frees large arrays at once that became garbage. V8 collects when JavaScript allocates, but what comes next is allocated by the runtime,
 * which V8 does not see: gigabytes would stay.
 * @param bytes of the garbage.
 */
export function collectGarbage(bytes: number): void {
  if (bytes < WORTH_BYTES) return;
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

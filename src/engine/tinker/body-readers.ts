import { closeSync, openSync, writeSync } from "node:fs";
import type { BodyReader } from "../../http/exchange.ts";

/** Reads a body, and gives what is to be parsed of it. */
export type Collector = BodyReader & { bytes: () => Uint8Array };

/** Keeps the body. */
export function collector(): Collector {
  const chunks: Uint8Array[] = [];
  return {
    push(bytes) {
      chunks.push(new Uint8Array(bytes));
      return false;
    },
    needsEnd: true,
    failure: () => null,
    bytes: () => Buffer.concat(chunks),
  };
}

/** Writes the body into a file, from its start. */
export function fileWriter(path: string): Collector {
  const file = openSync(path, "w");
  return {
    push(bytes) {
      for (let written = 0; written < bytes.length;)
        written += writeSync(file, bytes, written, bytes.length - written);
      return false;
    },
    needsEnd: true,
    failure() {
      closeSync(file);
      return null;
    },
    bytes: () => new Uint8Array(0),
  };
}

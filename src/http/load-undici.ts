import { createRequire } from "node:module";
import type * as Undici from "undici";
import { ExternalError } from "../base/errors.ts";
import { reserveMemory, webAssembly } from "../base/wasm.ts";

let loaded: typeof Undici | undefined;

/**
 * undici, loaded with the first request. Its parser is a WebAssembly module, for which Node reserves 10 GB of address space; under `ulimit -v`
 * loading it ends the process, so commands without requests do not load it, and others test first.
 *
 * @throws {ExternalError} ADDRESS_SPACE
 */
export function loadUndici(): typeof Undici {
  if (loaded !== undefined) return loaded;
  if (webAssembly === undefined || reserveMemory(webAssembly, 1) === null)
    throw new ExternalError(
      "ADDRESS_SPACE",
      "A request needs WebAssembly memory, for which Node reserves 10 GB of address space, and this shell or batch job allows less (`ulimit -v`). Run the command with NODE_OPTIONS=--disable-wasm-trap-handler, which needs no such reserve, or raise the limit.",
    );
  return (loaded = createRequire(import.meta.url)("undici") as typeof Undici);
}

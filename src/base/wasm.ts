/** WebAssembly: for the few loops that JavaScript runs many times slower, because it has no SIMD. */

/** The part of the WebAssembly API that is used: its types come with a browser's, which this project does not load. */
export interface WebAssemblyApi {
  Memory: new (size: { initial: number }) => {
    readonly buffer: ArrayBuffer;
    /** Adds pages; the old buffer is then detached. */
    grow(pages: number): number;
  };
  Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  Instance: new (
    module: object,
    imports: { env: Readonly<Record<string, object | number>> },
  ) => { exports: Record<string, unknown> };
}

/** Absent where it is switched off (`node --jitless`). */
export const { WebAssembly: webAssembly } = globalThis as unknown as {
  WebAssembly?: WebAssemblyApi;
};

/** Bytes of a page of memory. */
export const MEMORY_PAGE_BYTES = 1 << 16;

/**
 * Memory for a module, or null where the machine reserves none: each takes some 8 GiB of addresses, whatever its size, and a limit on
 * them (`ulimit -v`, as schedulers set it) may not leave so many. The caller then runs in JavaScript.
 */
export function reserveMemory(
  api: WebAssemblyApi,
  initial: number,
): InstanceType<WebAssemblyApi["Memory"]> | null {
  try {
    return new api.Memory({ initial });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** @param base64 the bytes of a module. */
export function wasmModule(api: WebAssemblyApi, base64: string): object {
  return new api.Module(Uint8Array.from(Buffer.from(base64, "base64")));
}

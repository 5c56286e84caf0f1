/** WebAssembly for the few loops that need SIMD, which JavaScript does not have. */

/** The used part of the WebAssembly API: TypeScript has these types only in its DOM library, which this project does not load. */
export interface WebAssemblyApi {
  Memory: {
    new (size: { initial: number; maximum: number; shared: true }): SharedMemory;
    new (size: { initial: number }): { readonly buffer: ArrayBuffer; grow(pages: number): number };
  };
  Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  Instance: new (
    module: object,
    imports: { env: Readonly<Record<string, object | number>> },
  ) => { exports: Record<string, unknown> };
}

/** Memory that worker threads share: a message gives it to another thread without a copy. */
export type SharedMemory = { readonly buffer: SharedArrayBuffer };

/** Undefined under `node --jitless`. */
export const { WebAssembly: webAssembly } = globalThis as unknown as {
  WebAssembly?: WebAssemblyApi;
};

/** Bytes of a page of memory. */
export const MEMORY_PAGE_BYTES = 1 << 16;

/** Memory for a module; null above 4 GiB or when the address space (8 GiB each) cannot be reserved: the caller then uses JavaScript. */
export function reserveMemory(
  api: WebAssemblyApi,
  initial: number,
): InstanceType<WebAssemblyApi["Memory"]> | null {
  return nullWithoutRoom(() => new api.Memory({ initial }));
}

/** Memory of a fixed size that threads share, or null as `reserveMemory`. */
export function reserveSharedMemory(api: WebAssemblyApi, pages: number): SharedMemory | null {
  return nullWithoutRoom(() => new api.Memory({ initial: pages, maximum: pages, shared: true }));
}

function nullWithoutRoom<T>(reserve: () => T): T | null {
  try {
    return reserve();
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** @param base64 the module's bytes. */
export function wasmModule(api: WebAssemblyApi, base64: string): object {
  return new api.Module(Uint8Array.from(Buffer.from(base64, "base64")));
}

import { expect, it } from "vitest";
import { reserveMemory, reserveSharedMemory, webAssembly } from "../../src/base/wasm.ts";

it("reserveMemory gives null where the machine reserves none, and memory else", () => {
  expect(reserveMemory(webAssembly!, 2)?.buffer.byteLength).toBe(2 * 65_536);
  // More than 4 GiB is beyond what it can hold.
  expect(reserveMemory(webAssembly!, 65_537)).toBeNull();
});

it("reserveSharedMemory gives memory of threads, and null above 4 GiB", () => {
  expect(reserveSharedMemory(webAssembly!, 1)?.buffer).toBeInstanceOf(SharedArrayBuffer);
  expect(reserveSharedMemory(webAssembly!, 65_537)).toBeNull();
});

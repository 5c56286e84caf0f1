import { describe, expect, it } from "vitest";
import {
  ADD,
  at,
  get,
  I32,
  i32,
  LESS,
  loop,
  reserveMemory,
  set,
  simd,
  tee,
  V128,
  type WasmFunction,
  wasmModule,
  webAssembly,
  when,
  ZERO,
} from "../../src/base/wasm.ts";

type Exports = Record<string, (...parameters: number[]) => number>;

/** Functions of a module, and the memory that they read and write. */
function made(functions: WasmFunction[]): { run: Exports; memory: ArrayBuffer } {
  const memory = new webAssembly!.Memory({ initial: 1 });
  const module = new webAssembly!.Module(wasmModule(functions, 1));
  const { exports } = new webAssembly!.Instance(module, { env: { memory } });
  return { run: exports as Exports, memory: memory.buffer };
}

describe("reserveMemory", () => {
  it("gives null where the machine reserves none, and memory else", () => {
    expect(reserveMemory(webAssembly!, 2)?.buffer.byteLength).toBe(2 * 65_536);
    // More than 4 GiB is beyond what it can hold.
    expect(reserveMemory(webAssembly!, 65_537)).toBeNull();
  });
});

describe("a module written out by hand", () => {
  it("is these bytes: type, memory, function, export, code", () => {
    const one = { name: "f", parameters: [I32], results: [I32], locals: [], code: get(0) };
    expect(Buffer.from(wasmModule([one], 1)).toString("hex")).toBe(
      [
        "0061736d01000000",
        "0106" + "0160017f017f",
        "020f" + "01" + "03656e76" + "066d656d6f7279" + "020001",
        "0302" + "0100",
        "0705" + "0101660000",
        "0a06" + "01" + "04" + "00" + "2000" + "0b",
      ].join(""),
    );
  });

  it("gives back constants of any length and sign", () => {
    const values = [0, 1, 63, 64, -64, -65, 127, 128, 65_536, 2 ** 31 - 1, -(2 ** 31)];
    const { run } = made(
      values.map((value) => ({
        ...{ name: `is${value}`, parameters: [], results: [I32], locals: [], code: i32(value) },
      })),
    );
    expect(values.map((value) => run[`is${value}`]!())).toEqual(values);
  });

  it("loops while a number is left, compares without sign, and skips what is not wanted", () => {
    const [limit, sum, i] = [0, 1, 2] as const;
    const { run } = made([
      {
        ...{ name: "sumBelow", parameters: [I32], results: [I32] },
        locals: [{ count: 2, type: I32 }],
        code: [
          ...loop([
            ...[...get(i), ...i32(3), LESS, ...when([...get(sum), ...get(i), ADD, ...set(sum)])],
            ...[...get(i), ...i32(1), ADD, ...tee(i), ...get(limit), LESS],
          ]),
          ...get(sum),
        ],
      },
    ]);
    expect(run["sumBelow"]!(2)).toBe(0 + 1);
    expect(run["sumBelow"]!(200)).toBe(0 + 1 + 2);
  });

  it("loads and stores 128 bits at an offset of more than one byte", () => {
    const { run, memory } = made([
      {
        ...{ name: "copyOrClear", parameters: [I32, I32], results: [] },
        locals: [{ count: 1, type: V128 }],
        code: [
          ...[...get(0), ...ZERO, ...simd(11), ...at(16)], // v128.store
          ...[...get(0), ...get(1), ...simd(0), ...at(0), ...simd(11), ...at(300, 4)],
        ],
      },
    ]);
    const numbers = new Int32Array(memory);
    numbers.set([1, 2, 3, 4, 5, 6, 7, 8]);
    run["copyOrClear"]!(0, 0);
    expect([...numbers.subarray(0, 8)]).toEqual([1, 2, 3, 4, 0, 0, 0, 0]);
    expect([...numbers.subarray(75, 79)]).toEqual([1, 2, 3, 4]);
  });
});

import { expect, it } from "vitest";
import { Graph, type OpExample, type Value } from "../../src/autodiff/graph.ts";
import { allOps } from "../../src/autodiff/ops/index.ts";
import { reduceMax } from "../../src/autodiff/ops/reduce.ts";
import { rmsNorm, simplifiedLayerNormalization } from "../../src/autodiff/ops/nn.ts";
import { random } from "../../src/base/random.ts";
import type { DeviceName } from "../../src/onnx/device-names.ts";
import { openDevice } from "../../src/onnx/device.ts";
import { createSession, floats, tensorOf, type Tensor } from "../../src/onnx/session.ts";
import { errorWith } from "../helpers/error-with.ts";
import { expectClose } from "../helpers/expect-close.ts";
import { describeOnGpu } from "../helpers/gpu.ts";
import { INDEXED } from "../helpers/indexed-operators.ts";

interface Run {
  graph: Graph;
  feeds: Record<string, Tensor>;
  out: Value;
}

function exampleRun(op: (typeof allOps)[number], example: OpExample): Run {
  const graph = new Graph();
  const draw = random(op.name);
  const feeds: Record<string, Tensor> = {};
  const inputs = example.inputs.map((input, i): Value => {
    const name = `x_${i}`;
    const size = input.shape.reduce((n, axis) => n * axis, 1);
    if ("bools" in input) {
      feeds[name] = tensorOf(Uint8Array.from(input.bools, Number), input.shape, "bool");
      return graph.input(name, "bool", input.shape);
    }
    if ("ints" in input) {
      const type = INDEXED[op.name];
      if (type === undefined) return graph.constant("int64", input.shape, input.ints);
      const ints =
        type === "int32" ? Int32Array.from(input.ints) : BigInt64Array.from(input.ints, BigInt);
      feeds[name] = tensorOf(ints, input.shape);
      return graph.input(name, type, input.shape);
    }
    const { low = -1, high = 1 } = input;
    const numbers = Float32Array.from({ length: size }, () => low + (high - low) * draw.next());
    feeds[name] = tensorOf(numbers, input.shape);
    return graph.input(name, "float32", input.shape);
  });
  return { graph, feeds, out: graph.apply(op, inputs, example.attributes)[0]! };
}

async function result({ graph, feeds, out }: Run, device: DeviceName): Promise<number[]> {
  const session = await createSession(graph, { out }, { threads: 1, device });
  const { out: tensor } = await session.run(feeds);
  await session.release();
  return Array.from(tensor!.data as Float32Array, Number);
}

const withExamples = allOps.filter(({ examples }) => examples.length > 0);

describeOnGpu("on WebGPU", () => {
  it.each(withExamples.map((op) => [op.name, op] as const))(
    "%s gives what it gives on the processor",
    async (_, op) => {
      for (const example of op.examples) {
        const run = exampleRun(op, example);
        expectClose(await result(run, "webgpu"), await result(run, "cpu"), { atol: 1e-6 });
      }
    },
  );

  it("the root-mean-square norm has its second output, which gradients read", async () => {
    const graph = new Graph();
    const x = graph.input("x", "float32", [2, 4]);
    const scale = graph.input("scale", "float32", [4]);
    rmsNorm(x, scale, 1e-5);
    const [, r] = graph.apply(simplifiedLayerNormalization, [x, scale], {
      axis: -1,
      epsilon: { float: 1e-5 },
      stash_type: 1,
    });
    const feeds = {
      x: tensorOf(Float32Array.of(1, 1, 1, 1, 2, 0, 0, 0), [2, 4]),
      scale: tensorOf(Float32Array.of(1, 1, 1, 1), [4]),
    };
    // Both rows have a mean square of 1.
    expectClose(await result({ graph, feeds, out: r! }, "webgpu"), [1, 1], { atol: 1e-5 });
  });

  it("the largest of a row is found", async () => {
    const graph = new Graph();
    const x = graph.input("x", "float32", [2, 3]);
    const feeds = { x: tensorOf(Float32Array.of(-3, -1, -2, 4, 9, 9), [2, 3]) };
    expect(await result({ graph, feeds, out: reduceMax(x, [1]) }, "webgpu")).toEqual([-1, 9]);
  });

  it("an operator that would fall back to the processor is refused", async () => {
    const graph = new Graph();
    const x = graph.input("x", "int64", [4]);
    const cast = { name: "Cast", domain: "", vjp: () => [null], examples: [] } as const;
    const infer = (): [{ dtype: "int32"; shape: number[] }] => [{ dtype: "int32", shape: [4] }];
    const [out] = graph.apply({ ...cast, infer }, [x], { to: 6 });
    await expect(
      createSession(graph, { out: out! }, { threads: 1, device: "webgpu" }),
    ).rejects.toThrow(errorWith("RUNTIME_FAILED", "fallback to CPU"));
  });

  it("a tensor stays in the device's memory, is written in place, and its crossings are counted", async () => {
    const device = openDevice("webgpu", 1);
    const there = await device.zeros([3]);
    expect(there.location).toBe("gpu-buffer");
    await device.write(there, Float32Array.of(1, NaN, 3));
    const other = await device.zeros([3]);
    await device.copy(there, other);
    await device.clear(there);
    expect([...(await device.read(there))]).toEqual([0, 0, 0]);
    expect([...(await device.read(other))]).toEqual([1, NaN, 3]);
    // Flags of one byte and the number that zeros are made of, besides the three tensors of 12 bytes.
    expect(device.traffic).toEqual({ toDevice: 2 * 4 + 12 + 5, fromDevice: 24, largest: 3 });
    const before = { ...device.traffic };
    const graph = new Graph();
    const x = graph.input("x", "float32", [3]);
    const session = await device.compile(graph, { y: graph.apply(addOp, [x, x])[0]! });
    const results = await session.run({ x: other }, { y: other });
    expect(results["y"]!.location).toBe("gpu-buffer");
    expect(device.traffic).toEqual(before);
    expect(floats(tensorOf(await device.read(other), [3]))[2]).toBe(6);
  });
});

const addOp = allOps.find(({ name }) => name === "Add")!;

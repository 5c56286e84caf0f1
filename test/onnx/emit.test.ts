import { fromBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { backward } from "../../src/autodiff/backward.ts";
import { defineOp, Graph, scalarLike, type Value } from "../../src/autodiff/graph.ts";
import { swiglu } from "../../src/autodiff/ops/composites.ts";
import { add, mul } from "../../src/autodiff/ops/elementwise.ts";
import { gemm, matMul } from "../../src/autodiff/ops/linear.ts";
import { rmsNorm } from "../../src/autodiff/ops/nn.ts";
import { slice } from "../../src/autodiff/ops/shape.ts";
import { reduceSum } from "../../src/autodiff/ops/reduce.ts";
import { emitModel, neededInputs } from "../../src/onnx/emit.ts";
import {
  AttributeProto_AttributeType as AttributeType,
  ModelProtoSchema,
  TensorProto_DataType as DataType,
  type AttributeProto,
  type ValueInfoProto,
} from "../../src/onnx/schema/onnx_pb.ts";
import { createSession, floats, tensorOf } from "../../src/onnx/session.ts";

/** A serialised model as text, one line an input, constant, node and output. */
function printed(bytes: Uint8Array): string {
  const { graph, opsetImport, irVersion } = fromBinary(ModelProtoSchema, bytes);
  const opsets = opsetImport.map(({ domain, version }) => `${domain} ${version}`.trim());
  const nodes = graph!.node.map(({ opType, domain, input, output, attribute }) => {
    const attributes = attribute.map(attributeText).join(" ");
    const name = domain === "" ? opType : `${domain}.${opType}`;
    return `${output.join(", ")} = ${name}(${input.join(", ")}) ${attributes}`.trim();
  });
  return [
    `ir ${irVersion}, opset ${opsets.join(", ")}`,
    ...graph!.input.map((each) => `input ${typeText(each)}`),
    ...graph!.initializer.map(
      ({ name, dims, dataType, rawData }) =>
        `constant ${name} ${DataType[dataType]} [${dims.join(", ")}] ${Buffer.from(rawData).toString("hex")}`,
    ),
    ...nodes,
    ...graph!.output.map((each) => `output ${typeText(each)}`),
  ].join("\n");
}

function typeText({ name, type }: ValueInfoProto): string {
  if (type?.value.case !== "tensorType") return `${name} of no type`;
  const { elemType, shape } = type.value.value;
  const axes = shape!.dim.map(({ value }) => String(value.value));
  return `${name} ${DataType[elemType]} [${axes.join(", ")}]`;
}

function attributeText({ name, type, i, f, ints }: AttributeProto): string {
  const value = { INT: String(i), FLOAT: f.toFixed(6), INTS: `[${ints.join(", ")}]` };
  return `${name}=${value[AttributeType[type] as keyof typeof value]}`;
}

function product(): { graph: Graph; x: Value; w: Value; y: Value } {
  const graph = new Graph();
  const x = graph.input("x", "float32", [2, 3]);
  const w = graph.input("w", "float32", [3, 4]);
  return { graph, x, w, y: matMul([x, w]) };
}

describe("an emitted model", () => {
  it("holds a product with its gradient and nothing that they do not need", () => {
    const { graph, x, w, y } = product();
    graph.input("unused", "float32", [9]);
    add([y, scalarLike(y, 7)]);
    const loss = reduceSum(mul([y, y]), [0, 1]);
    const [dw] = backward(loss, [w]);
    expect(printed(emitModel(graph, { loss, dw: dw! }))).toMatchInlineSnapshot(`
      "ir 10, opset 21, com.microsoft 1
      input x FLOAT [2, 3]
      input w FLOAT [3, 4]
      constant const_5 INT64 [2] 00000000000000000100000000000000
      constant const_7 FLOAT [] 0000803f
      constant const_8 INT64 [2] 01000000000000000100000000000000
      constant const_10 INT64 [2] 02000000000000000400000000000000
      MatMul_1 = MatMul(x, w)
      Mul_4 = Mul(MatMul_1, MatMul_1)
      loss = ReduceSum(Mul_4, const_5) keepdims=1
      Reshape_9 = Reshape(const_7, const_8)
      Expand_11 = Expand(Reshape_9, const_10)
      Mul_12 = Mul(Expand_11, MatMul_1)
      Mul_13 = Mul(Expand_11, MatMul_1)
      Add_14 = Add(Mul_12, Mul_13)
      Transpose_17 = Transpose(x) perm=[1, 0]
      dw = MatMul(Transpose_17, Add_14)
      output loss FLOAT [1, 1]
      output dw FLOAT [3, 4]"
    `);
    expect(neededInputs(graph, [y])).toEqual(["x", "w"]);
    expect(x.name).toBe("x");
  });

  it("names other operator sets and typed attributes", () => {
    const graph = new Graph();
    const x = graph.input("x", "float32", [2, 4]);
    const y = rmsNorm(x, graph.input("scale", "float32", [4]), 1e-5);
    expect(printed(emitModel(graph, { y }))).toMatchInlineSnapshot(`
      "ir 10, opset 21, com.microsoft 1
      input x FLOAT [2, 4]
      input scale FLOAT [4]
      y = SimplifiedLayerNormalization(x, scale) axis=-1 epsilon=0.000010 stash_type=1
      output y FLOAT [2, 4]"
    `);
  });

  it("gives a composite its first input only: the others are for the derivative", () => {
    const graph = new Graph();
    const [gate, up] = [graph.input("gate", "float32", [3]), graph.input("up", "float32", [3])];
    expect(printed(emitModel(graph, { y: swiglu(gate, up) }))).toMatchInlineSnapshot(`
      "ir 10, opset 21, com.microsoft 1
      input gate FLOAT [3]
      input up FLOAT [3]
      Sigmoid_1 = Sigmoid(gate)
      Mul_2 = Mul(gate, Sigmoid_1)
      Mul_3 = Mul(Mul_2, up)
      y = Identity(Mul_3)
      output y FLOAT [3]"
    `);
  });

  it("copies only a value that is asked for twice or given", () => {
    const { graph, x, y } = product();
    expect(printed(emitModel(graph, { first: y, second: y, given: x }))).toMatchInlineSnapshot(`
      "ir 10, opset 21, com.microsoft 1
      input x FLOAT [2, 3]
      input w FLOAT [3, 4]
      first = MatMul(x, w)
      second = Identity(first)
      given = Identity(x)
      output first FLOAT [2, 4]
      output second FLOAT [2, 4]
      output given FLOAT [2, 3]"
    `);
  });
});

describe("a session", () => {
  it("runs a graph with a free axis on any length of it", async () => {
    const graph = new Graph();
    const x = graph.input("x", "float32", [2, 4], { 1: "length" });
    const factor = graph.input("factor", "float32", [4], { 0: "length" });
    const y = slice(mul([x, factor]), 1, 2);
    expect(y.shape).toEqual([2, 2]);
    const session = await createSession(graph, { y }, { threads: 1 });
    for (const length of [3, 5]) {
      const numbers = Float32Array.from({ length: 2 * length }, (_, i) => i);
      const given = {
        x: tensorOf(numbers, [2, length]),
        factor: tensorOf(new Float32Array(length).fill(10), [length]),
      };
      const expected = length === 3 ? [20, 50] : [20, 30, 40, 70, 80, 90];
      expect([...floats((await session.run(given))["y"]!)]).toEqual(expected);
    }
    await session.release();
  });

  it("takes constants once, which no run feeds", async () => {
    const graph = new Graph();
    const x = graph.input("x", "float32", [1, 2]);
    const weight = graph.input("weight", "float32", [3, 2]);
    const y = gemm([x, weight], { transB: 1 });
    const numbers = Float32Array.of(0, 0, 1, 2, 3, 4, 5, 6);
    const constants = new Map([["weight", numbers.subarray(2)]]);
    const session = await createSession(graph, { y }, { threads: 1, constants });
    numbers.fill(0);
    const given = tensorOf(Float32Array.of(1, 10), [1, 2]);
    expect(session.inputNames).toEqual(["x"]);
    expect([...floats((await session.run({ x: given }))["y"]!)]).toEqual([21, 43, 65]);
    await session.release();
  });

  it("runs what was emitted: 2 · 3 + 1 · 4 and its gradient", async () => {
    const graph = new Graph();
    const a = graph.input("a", "float32", [1, 2]);
    const b = graph.input("b", "float32", [2, 1]);
    const y = reduceSum(matMul([a, b]), [0, 1]);
    const [da] = backward(y, [a]);
    const session = await createSession(graph, { y, da: da! }, { threads: 1 });
    expect(session.inputNames).toEqual(["a", "b"]);
    const into = tensorOf(new Float32Array(2), [1, 2]);
    const given = {
      a: tensorOf(Float32Array.of(2, 1), [1, 2]),
      b: tensorOf(Float32Array.of(3, 4), [2, 1]),
      more: tensorOf(Float32Array.of(1), [1]),
    };
    const results = await session.run(given, { da: into });
    expect([...floats(results["y"]!)]).toEqual([10]);
    expect([...floats(into)]).toEqual([3, 4]);
    await session.release();
  });

  it("says what the runtime refused, when building and when running", async () => {
    const { graph, y } = product();
    const session = await createSession(graph, { y }, { threads: 1 });
    const wrong = {
      x: tensorOf(new Float32Array(2), [2, 1]),
      w: tensorOf(new Float32Array(12), [3, 4]),
    };
    await expect(session.run(wrong)).rejects.toMatchObject({ code: "RUNTIME_FAILED" });
    await session.release();
    const unknown = defineOp({
      name: "NoSuchOperator",
      vjp: () => [null],
      examples: [],
      infer: ([only]) => [only!],
    });
    const bad = unknown([y]);
    await expect(createSession(graph, { bad }, { threads: 1 })).rejects.toMatchObject({
      code: "RUNTIME_FAILED",
    });
  });
});

// The decode step as a straightforward export would have it: ONNX's own operators only, a key/value cache of fixed size
// updated in place by ScatterND, attention over all of it under a mask. What the engine's decode is compared with.
import { Graph, scalarLike } from "../../dist/autodiff/graph.js";
import { add, div, mul, neg, sigmoid, sqrt } from "../../dist/autodiff/ops/elementwise.js";
import { gather, scatterNd } from "../../dist/autodiff/ops/indexing.js";
import { matMul, swapLast } from "../../dist/autodiff/ops/linear.js";
import { softmax } from "../../dist/autodiff/ops/nn.js";
import { reduceMean } from "../../dist/autodiff/ops/reduce.js";
import { concat, reshape, slice } from "../../dist/autodiff/ops/shape.js";
import { rotaryTables } from "../../dist/models/decoder.js";
import { EMBEDDING, FINAL_NORM, layerNames } from "../../dist/models/parameters.js";
import { createSession, tensorOf, zeros } from "../../dist/onnx/session.js";
import { random } from "../../dist/base/random.js";
import { timed } from "./timing.mjs";

/** Tokens a second of one session with two threads, and the milliseconds of a step. */
export async function standardDecode(config, { rows, capacity, from, steps, times }) {
  const { graph, outputs, weights, caches } = build(config, rows, capacity);
  const session = await createSession(graph, outputs, { threads: 2 });
  const draw = random(1);
  const state = {};
  const fetches = { probabilities: zeros("float32", [rows, config.vocabSize]) };
  for (const [name, shape] of weights) state[name] = filled(shape, () => 0.05 * draw.normal());
  for (const [name, shape] of caches) {
    state[name] = filled(shape, () => 0.05 * draw.normal());
    fetches[`${name}.next`] = state[name];
  }
  const ids = new Int32Array(rows).map(() => draw.int(config.vocabSize));
  const run = async () => {
    for (let position = from; position < from + steps; position++) {
      await session.run(
        { ...state, ...stepFeeds(config, { ids, rows, capacity, position }) },
        fetches,
      );
    }
  };
  const { best } = await timed(times, run);
  await session.release();
  return { tokensPerSecond: (rows * steps) / best, msPerStep: (1000 * best) / steps };
}

function build(config, rows, capacity) {
  const { hiddenSize: d, headDim, heads, kvHeads, intermediateSize: f, vocabSize } = config;
  const graph = new Graph();
  const weights = [];
  const caches = [];
  const weight = (name, shape) => {
    weights.push([name, shape]);
    return graph.input(name, "float32", shape);
  };
  const norm = (x, name) => {
    const square = reduceMean(mul([x, x]), [1]);
    const root = sqrt([add([square, scalarLike(x, config.normEpsilon)])]);
    return mul([div([x, root]), weight(name, [d])]);
  };
  const ids = graph.input("ids", "int32", [rows]);
  const position = graph.input("position", "int32", [1]);
  const places = graph.input("places", "int64", [rows, kvHeads, 3]);
  const mask = graph.input("mask", "float32", [1, 1, 1, capacity]);
  const tables = rotaryTables(graph, config, capacity);
  const cos = gather([tables.cos, position]);
  const sin = gather([tables.sin, position]);
  const rotate = (x) => {
    const half = headDim / 2;
    const [low, high] = [slice(x, 2, 0, half), slice(x, 2, half, headDim)];
    const turned = [
      add([mul([low, cos]), neg([mul([high, sin])])]),
      add([mul([high, cos]), mul([low, sin])]),
    ];
    return concat(turned, { axis: 2 });
  };
  const outputs = {};
  const remember = (name, fresh) => {
    const shape = [rows, kvHeads, capacity, headDim];
    caches.push([name, shape]);
    outputs[`${name}.next`] = scatterNd([graph.input(name, "float32", shape), places, fresh]);
    return outputs[`${name}.next`];
  };
  const embedding = weight(EMBEDDING, [vocabSize, d]);
  let x = gather([embedding, ids]);
  for (let layer = 0; layer < config.layers; layer++) {
    const names = layerNames(layer);
    const normal = norm(x, names.inputNorm);
    const project = (name, count) =>
      reshape(matMul([normal, weight(name, [d, count * headDim])]), [rows, count, headDim]);
    const q = reshape(rotate(project(names.q, heads)), [rows, kvHeads, heads / kvHeads, headDim]);
    const keys = remember(`key.${layer}`, rotate(project(names.k, kvHeads)));
    const values = remember(`value.${layer}`, project(names.v, kvHeads));
    const scores = mul([matMul([q, swapLast(keys)]), scalarLike(q, 1 / Math.sqrt(headDim))]);
    const mixed = matMul([softmax([add([scores, mask])], { axis: -1 }), values]);
    const joined = reshape(mixed, [rows, heads * headDim]);
    x = add([x, matMul([joined, weight(names.o, [heads * headDim, d])])]);
    const second = norm(x, names.postNorm);
    const gate = matMul([second, weight(names.gate, [d, f])]);
    const gated = mul([mul([gate, sigmoid([gate])]), matMul([second, weight(names.up, [d, f])])]);
    x = add([x, matMul([gated, weight(names.down, [f, d])])]);
  }
  const logits = matMul([norm(x, FINAL_NORM), weight("head", [d, vocabSize])]);
  outputs.probabilities = softmax([logits], { axis: -1 });
  return { graph, outputs, weights, caches };
}

function stepFeeds(config, { ids, rows, capacity, position }) {
  const { kvHeads } = config;
  const places = new BigInt64Array(rows * kvHeads * 3);
  for (let row = 0; row < rows; row++) {
    for (let head = 0; head < kvHeads; head++) {
      places.set([BigInt(row), BigInt(head), BigInt(position)], 3 * (row * kvHeads + head));
    }
  }
  const mask = new Float32Array(capacity).fill(-1e9).fill(0, 0, position + 1);
  return {
    ids: tensorOf(ids, [rows]),
    position: tensorOf(Int32Array.of(position), [1]),
    places: tensorOf(places, [rows, kvHeads, 3]),
    mask: tensorOf(mask, [1, 1, 1, capacity]),
  };
}

function filled(shape, draw) {
  const tensor = zeros("float32", shape);
  for (let i = 0; i < tensor.data.length; i++) tensor.data[i] = draw();
  return tensor;
}

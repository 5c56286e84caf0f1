// node bench/engine/profile.mjs [model] [rows] [length] [tokens]: where a training micro-batch's time goes, by kernel and shape.
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TREE, trainingGraph } from "../../dist/engine/local/training-graph.js";
import { createSession, zeros } from "../../dist/onnx/session.js";
import { random } from "../../dist/base/random.js";
import { models } from "./models.mjs";

const RUNS = 10;
const [name = "0.90M", batch = "6", length = "160", distinct] = process.argv.slice(2);
const places = Number(batch) * Number(length);
const tokens = Number(distinct ?? places);
const shape = { tokens, batch: Number(batch), length: Number(length), scored: tokens };
const folder = await mkdtemp(join(tmpdir(), "agentrl-profile-"));
try {
  const loss = { name: "cross-entropy", options: {} };
  const { graph, outputs } = trainingGraph(models[name], shape, loss);
  const session = await createSession(graph, outputs, {
    threads: 1,
    profile: join(folder, "trace"),
  });
  const feeds = Object.fromEntries(graph.inputs.map((input) => [input.name, filled(input)]));
  const fetches = {};
  for (const name of Object.keys(outputs)) {
    if (name.endsWith(".next")) fetches[name] = feeds[name.slice(0, -".next".length)];
  }
  const start = performance.now();
  for (let i = 0; i < RUNS; i++) await session.run(feeds, fetches);
  const wall = (performance.now() - start) / RUNS;
  await session.release();
  const [trace] = await readdir(folder);
  report(JSON.parse(await readFile(join(folder, trace), "utf8")), wall);
} finally {
  await rm(folder, { recursive: true, force: true });
}

function filled({ name, dtype, shape: dims }) {
  const draw = random(name);
  const tensor = zeros(dtype, dims);
  for (let i = 0; i < tensor.data.length; i++) {
    tensor.data[i] = dtype === "int32" ? whole(name, i, draw) : 0.05 * draw.normal();
  }
  return tensor;
}

/** An element of an integer input: tokens in turn, so that rows share some where there are fewer tokens than places. */
function whole(name, i, draw) {
  if (name === TREE.positions) return i % shape.length;
  if (name === TREE.paths) return i % tokens;
  return name.startsWith("tree.") || name === TREE.scored ? i : draw.int(1000);
}

function report(events, wall) {
  const kernels = events.filter(({ name, cat }) => cat === "Node" && name.endsWith("_kernel_time"));
  const byOp = new Map();
  const byShape = new Map();
  for (const { args, dur } of kernels) {
    const shapes = (args.input_type_shape ?? [])
      .map((each) => `[${Object.values(each)[0]}]`)
      .join(" ");
    add(byOp, args.op_name, dur);
    add(byShape, `${args.op_name} ${shapes}`, dur);
  }
  const total = kernels.reduce((sum, { dur }) => sum + dur, 0) / RUNS / 1000;
  console.error(
    `${name} ${batch} × ${length}: ${wall.toFixed(2)} ms a run, ${total.toFixed(2)} ms in kernels`,
  );
  for (const [title, times] of [
    ["kernel", byOp],
    ["kernel and input shapes", byShape],
  ]) {
    console.error(`\n${title}`);
    const sorted = [...times].sort((a, b) => b[1].time - a[1].time).slice(0, 40);
    for (const [what, { time, count }] of sorted) {
      const ms = (time / RUNS / 1000).toFixed(3).padStart(9);
      console.error(`${ms} ms ${String(count / RUNS).padStart(5)} × ${what}`);
    }
  }
}

function add(times, what, dur) {
  const entry = times.get(what) ?? { time: 0, count: 0 };
  times.set(what, { time: entry.time + dur, count: entry.count + 1 });
}

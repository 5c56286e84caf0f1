// node bench/training/ours-adamw.mjs JSON: AdamW as a contender, over arrays of some size.
// "update" is the update alone over shared memory, by one thread or two; "clipped" is norm, clipping and update of a single worker.
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { adamFactors } from "../../dist/autodiff/adamw.js";
import { random } from "../../dist/base/random.js";
import { hostOptimizer, sharedPart, trainedRoom } from "../../dist/engine/local/optimizer.js";
import { sharedTraining } from "../../dist/engine/local/trained-state.js";
import { play } from "./play.mjs";

if (isMainThread) {
  const settings = JSON.parse(process.argv[2]);
  const { turn, close } = await { update, clipped }[settings.what](settings);
  await play({}, turn);
  await close();
} else {
  const { shared, rank, decays } = workerData;
  const part = sharedPart(shared, rank, decays);
  parentPort.on("message", (factors) => {
    if (factors === null) return parentPort.close();
    part.step(factors);
    parentPort.postMessage(null);
  });
}

async function update({ size, threads, adam }) {
  const shared = sharedTraining(size, threads);
  fill(shared.weights, 0.02);
  fill(shared.gradients[0], 1e-3);
  const workers = Array.from({ length: threads }, (_, rank) => {
    return new Worker(new URL(import.meta.url), { workerData: { shared, rank, decays: size } });
  });
  let step = 0;
  const turn = async () => {
    const factors = adamFactors({ ...adam, gradClipNorm: Infinity }, ++step, 1);
    const done = workers.map((worker) => new Promise((resolve) => worker.once("message", resolve)));
    for (const worker of workers) worker.postMessage(factors);
    await Promise.all(done);
  };
  return { turn, close: async () => workers.forEach((worker) => worker.postMessage(null)) };
}

async function clipped({ size, adam }) {
  const specs = [{ name: "all", shape: [size], decays: true }];
  const room = trainedRoom(size);
  const optimizer = hostOptimizer(specs, room);
  fill(room.arrays.parameters, 0.02);
  fill(room.arrays.gradients, 1e-3);
  const turn = async () => {
    await optimizer.apply({ ...adam, gradClipNorm: 1 });
  };
  return { turn, close: async () => undefined };
}

/** Normal numbers; the first million again and again. */
function fill(array, scale) {
  const draw = random("adamw");
  const first = array.subarray(0, 1_000_000);
  for (let i = 0; i < first.length; i++) first[i] = scale * draw.normal();
  for (let at = first.length; at < array.length; at += first.length) {
    array.set(first.subarray(0, array.length - at), at);
  }
}

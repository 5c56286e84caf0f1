// A worker thread of an engine that behaves oddly: what each call does stands below. It answers as worker.ts does.
import { parentPort, workerData } from "node:worker_threads";

const { beats } = workerData.heartbeat;
const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
const fail = (message) => {
  throw new Error(message);
};

const calls = {
  start: () => null,
  stop: () => null,
  forget: () => null,
  // Never comes back.
  forwardBackward: () => sleep(),
  // Computes for long, and shows that it does.
  sample: () => {
    for (let i = 0; i < 25; i++) {
      sleep(100);
      Atomics.add(beats, 0, 1);
    }
    return { ids: [], logprobs: [], finish: "eos" };
  },
  // Fills its heap.
  readState: () => {
    const kept = [];
    for (;;) kept.push(new Array(1000).fill(kept.length));
  },
  score: () => fail("std::bad_alloc"),
  takeWeights: () => fail("it fell over"),
  traffic: () => process.exit(3),
};

parentPort.on("message", ({ id, call, argument }) => {
  try {
    parentPort.postMessage({ id, answer: calls[call](argument) });
  } catch ({ message, stack }) {
    parentPort.postMessage({ id, failure: { message, stack, own: null } });
  }
});

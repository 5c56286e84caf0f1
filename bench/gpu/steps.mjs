// Where the time goes: each part alone, its session's creation and its first run apart from later ones.
import { random } from "../../dist/base/random.js";
import { microBatches } from "../../dist/engine/local/batching.js";
import { cachedModel } from "../../dist/engine/local/cached-model.js";
import { modelWeights } from "../../dist/engine/local/model-weights.js";
import { deviceOptimizer, hostOptimizer, trainedRoom } from "../../dist/engine/local/optimizer.js";
import { makeTrainer } from "../../dist/engine/local/trainer.js";
import { readCheckpoint } from "../../dist/models/checkpoint.js";
import { parameterSpecs, totalSize } from "../../dist/models/parameters.js";
import { openDevice } from "../../dist/onnx/device.js";
import { availableParallelism } from "node:os";
import { adam, policyGradient, policyRows, seconds, timedFor } from "./rows.mjs";

/** Parts in order; one that fails is a row with the reason, and the next is tried. */
export async function steps(job, report) {
  const { work, model } = job;
  const { device, spent } = instrumented(openDevice(job.device, availableParallelism()));
  const [{ config, weights: numbers }, readSeconds] = await seconds(() => readCheckpoint(model));
  const specs = parameterSpecs(config);
  const room = device.resident ? null : trainedRoom(totalSize(specs));
  const [weights, moveSeconds] = await seconds(() =>
    modelWeights(config, numbers, device, room?.arrays.parameters),
  );
  report({ part: "weights", readSeconds, moveSeconds });
  // Reading back waits for all that was asked of the device before.
  const small = [...weights.trained.tensors.values()].find(({ dims }) => dims.length === 1);
  const wait = () => device.read(small);
  const part = async (name, facts, run) => {
    try {
      await wait();
      spent.creating = 0;
      const [, first] = await seconds(async () => {
        await run();
        await wait();
      });
      const creating = spent.creating;
      const later = await timedFor(job.seconds, async () => {
        await run();
        await wait();
      });
      report({
        ...{ part: name, ...facts, seconds: later.median, runs: later.runs },
        sessionSeconds: creating,
        firstRunSeconds: Math.max(0, first - creating - later.median),
      });
    } catch (error) {
      report({ part: name, ...facts, failed: error.message });
    }
  };
  const { length } = work.training;
  const rows = policyRows(config.vocabSize, { rows: 1, length });
  const batches = microBatches(rows, { maxTokens: length }).flat();
  const memory = { recompute: true };
  const gradients = room?.arrays.gradients;
  const trainer = await makeTrainer(config, device, { lora: null, memory, gradients });
  const facts = { rows: 1, length, scored: length / 2 };
  await part("forward", facts, () => trainer.score(weights, rows, batches, "logprobs"));
  await part("forward and backward, recomputed", facts, () =>
    trainer.forwardBackward(weights, rows, batches, policyGradient),
  );
  let optimizer = null;
  await part("optimiser", {}, async () => {
    const trained = { weights: weights.trained, gradients: trainer.gradients };
    optimizer ??=
      room === null ? await deviceOptimizer(device, specs, trained) : hostOptimizer(specs, room);
    await optimizer.apply(adam);
  });
  await part("clearing gradients", {}, () => trainer.gradients.clear());
  await samplingParts(part, { config, weights, device, work });
}

async function samplingParts(part, { config, weights, device, work }) {
  const slots = work.sampling.sequences;
  const draw = random("steps");
  const pick = { temperature: 1, topK: 0, topP: 1 };
  const model = await cachedModel(config, weights, { device, slots });
  const ids = Array.from({ length: work.sampling.prompt }, () => draw.int(config.vocabSize));
  await part("one prompt", { prompt: ids.length }, () => model.fill(0, ids, 0));
  for (const position of work.caches) {
    const newest = Array.from({ length: slots }, () => {
      return { id: draw.int(config.vocabSize), position: position - 1, pick, stream: draw };
    });
    // The cache is as long as its longest sequence and was filled with nothing: what is computed takes as long.
    await part("sampling step", { sequences: slots, cache: position }, () => model.step(newest));
  }
}

/** A device that adds up how long its sessions take to be created. */
function instrumented(device) {
  const spent = { creating: 0 };
  return {
    spent,
    device: {
      ...device,
      async compile(graph, outputs) {
        const [session, took] = await seconds(() => device.compile(graph, outputs));
        spent.creating += took;
        return session;
      },
    },
  };
}

/** Entry of a worker thread: one replica of the model, which answers the calls of messages.ts in order of arrival. */
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import { sendError } from "../../base/errors.ts";
import { asPluginError, loadPlugin } from "../../base/plugins.ts";
import {
  handedOver,
  type StartOptions,
  type WorkerCalls,
  type WorkerReply,
  type WorkerRequest,
} from "./messages.ts";
import { readWeights } from "../../models/checkpoint.ts";
import { decayingSize, totalSize } from "../../models/parameters.ts";
import { trainedSpecs } from "../../models/lora/lora.ts";
import { noTraffic, openDevice, type Device } from "../../onnx/device.ts";
import { frozenWeights } from "./frozen-weights.ts";
import { beatingDevice, type WorkerData } from "./heartbeat.ts";
import { adaptedWeights, modelWeights, type ModelWeights } from "./model-weights.ts";
import {
  deviceOptimizer,
  hostOptimizer,
  trainedRoom,
  type Optimizer,
  sharedPart,
  type SharedPart,
} from "./optimizer.ts";
import { makeSampler, type Sampler } from "./sampler.ts";
import { makeTrainer, type Trainer } from "./trainer.ts";

type Answers = {
  [K in keyof WorkerCalls]: (argument: WorkerCalls[K][0]) => Promise<WorkerCalls[K][1]>;
};

interface Replica {
  device: Device;
  weights: ModelWeights;
  trainer: Trainer;
  sampler: Sampler;
  optimizer: () => Promise<Optimizer>;
  shared: (SharedPart & { weights: Float32Array }) | null;
  roles: Map<string, ModelWeights>;
}

async function startReplica(options: StartOptions): Promise<Replica> {
  const { config, adapter, slots, shared, memory } = options;
  for (const file of options.plugins) await loadPlugin(file, ".", "plugins");
  const { bytes, ends } = options.tokenBytes;
  const { heartbeat } = workerData as WorkerData;
  const device = beatingDevice(openDevice(options.device, options.threads), heartbeat);
  const read = (into: Float32Array): Promise<void> => readWeights(options.base, config, into);
  // Without adapters, the shared arrays are the weights.
  const initial = shared !== null && adapter === null ? shared.weights : read;
  const specs = trainedSpecs(config, adapter?.lora ?? null);
  const room = device.resident || shared !== null ? null : trainedRoom(totalSize(specs));
  const flat = room?.arrays.parameters;
  const base =
    options.frozen === null
      ? await modelWeights(config, initial, device, adapter === null ? flat : undefined)
      : await frozenWeights(config, options.base, device, options.frozen);
  const own = adapter === null ? base : await adaptedWeights(config, base, adapter, device, flat);
  const gradients = room?.arrays.gradients;
  const trainer = await makeTrainer(config, device, { lora: own.lora, memory, gradients });
  const trained = { weights: own.trained, gradients: trainer.gradients };
  let optimizer: Promise<Optimizer> | null = null;
  return {
    device,
    weights: own,
    trainer,
    sampler: await makeSampler(
      {
        config,
        device,
        slots,
        weights: options.sampling,
        capacity: config.maxPositions,
        tokenBytes: (id) => bytes.subarray(id === 0 ? 0 : ends[id - 1], ends[id]),
      },
      own,
    ),
    optimizer: () =>
      (optimizer ??=
        room === null
          ? deviceOptimizer(device, specs, trained)
          : Promise.resolve(hostOptimizer(specs, room))),
    shared: shared && {
      ...sharedPart(shared, options.rank, decayingSize(specs)),
      weights: shared.weights,
    },
    roles: new Map(adapter === null ? [] : [["base", base]]),
  };
}

function answers(): Answers {
  let started: Replica | null = null;
  const replica = (): Replica => {
    if (started === null) throw new Error("the worker received a call before its start");
    return started;
  };
  const part = (): NonNullable<Replica["shared"]> => {
    const { shared } = replica();
    if (shared === null) throw new Error("the worker has no shared arrays");
    return shared;
  };
  const changed = async (): Promise<null> => {
    const { weights, sampler } = replica();
    await weights.refresh();
    sampler.invalidate();
    return null;
  };
  return {
    async start(options) {
      started = await startReplica(options);
      return null;
    },
    sample: (request) => replica().sampler.sample(request),
    forget(sequence) {
      replica().sampler.forget(sequence);
      return Promise.resolve(null);
    },
    async stop() {
      await started?.sampler.stop();
      await started?.device.close();
      return null;
    },
    async score({ rows, batches, model, score }) {
      const { trainer, weights, roles, sampler } = replica();
      const chosen = model === "policy" ? weights : roles.get(model);
      if (chosen === undefined) throw new Error(`there are no weights named "${model}"`);
      await sampler.rest();
      return trainer.score(chosen, rows, batches, score);
    },
    async forwardBackward({ rows, batches, loss }) {
      const { trainer, weights, sampler } = replica();
      await sampler.rest();
      return trainer.forwardBackward(weights, rows, batches, loss);
    },
    async shareGradients() {
      part().share(await replica().trainer.gradients.read());
      return null;
    },
    sumGradients: () => Promise.resolve(part().sum()),
    stepPart(factors) {
      part().step(factors);
      return Promise.resolve(null);
    },
    async takeWeights() {
      await replica().weights.trained.write(part().weights);
      return changed();
    },
    async optimStep(adam) {
      const { trainer, optimizer } = replica();
      const gradNorm = await (await optimizer()).apply(adam);
      await trainer.gradients.clear();
      await changed();
      return { gradNorm };
    },
    async readState() {
      const { weights, optimizer } = replica();
      const moments = await (await optimizer()).read();
      const numbers = await weights.trained.read();
      // Answers transfer their arrays, so return a copy.
      return {
        weights: numbers === weights.trained.flat ? numbers.slice() : numbers,
        optimizer: moments,
      };
    },
    async writeState({ weights, optimizer: state }) {
      const { weights: own, optimizer } = replica();
      await (await optimizer()).write(state);
      await own.trained.write(weights);
      return changed();
    },
    async snapshot(role) {
      const { roles, weights } = replica();
      roles.set(role, await weights.copy());
      return null;
    },
    traffic() {
      const { traffic } = replica().device;
      const found = { ...traffic };
      Object.assign(traffic, noTraffic());
      return Promise.resolve(found);
    },
  };
}

/** Sampling requests run concurrently; every other call waits for the calls before it. */
function serve(port: MessagePort): void {
  const table = answers();
  let last: Promise<unknown> = Promise.resolve();
  port.on("message", ({ id, call, argument }: WorkerRequest) => {
    const answer = async (): Promise<void> => {
      let reply: WorkerReply;
      let given: ArrayBuffer[] = [];
      try {
        const run = table[call] as (argument: unknown) => Promise<unknown>;
        const answered = await run(argument);
        reply = { id, answer: answered };
        given = call === "readState" ? handedOver(call, answered) : [];
      } catch (error) {
        reply = { id, failure: sendError(asPluginError(error)) };
      }
      port.postMessage(reply, given);
    };
    // Running native code must end before the thread does; sampling requests are aborted at once.
    if (call === "stop") last = Promise.all([last, table.stop(null)]).then(answer);
    else if (call === "sample" || call === "forget") void last.then(answer);
    else last = last.then(answer);
  });
}

if (parentPort !== null) serve(parentPort);

/** A worker thread's entry: one replica of the model, answering the calls of messages.ts in order of arrival. */
import { parentPort, type MessagePort } from "node:worker_threads";
import { sendError } from "../../base/errors.ts";
import type { WorkerCalls, WorkerReply, WorkerRequest, StartOptions } from "./messages.ts";
import { trainedSpecs } from "../../models/lora/lora.ts";
import { adaptedWeights, modelWeights, type ModelWeights } from "./model-weights.ts";
import { makeOptimizer, type Optimizer } from "./optimizer.ts";
import { makeSampler, type Sampler } from "./sampler.ts";
import { makeTrainer, type Trainer } from "./trainer.ts";

type Answers = {
  [K in keyof WorkerCalls]: (argument: WorkerCalls[K][0]) => Promise<WorkerCalls[K][1]>;
};

interface Replica {
  weights: ModelWeights;
  trainer: Trainer;
  sampler: Sampler;
  /** Built when first needed: only one worker steps. */
  optimizer: () => Promise<Optimizer>;
  roles: Map<string, ModelWeights>;
}

async function startReplica({
  config,
  weights,
  adapter,
  threads,
  slots,
  tokenBytes,
}: StartOptions): Promise<Replica> {
  const { bytes, ends } = tokenBytes;
  const base = await modelWeights(config, weights, threads);
  const own = adapter === null ? base : adaptedWeights(config, base, adapter);
  let optimizer: Promise<Optimizer> | null = null;
  return {
    weights: own,
    trainer: makeTrainer(config, threads, own.lora),
    sampler: await makeSampler(
      {
        ...{ config, slots, threads, capacity: config.maxPositions },
        tokenBytes: (id) => bytes.subarray(id === 0 ? 0 : ends[id - 1], ends[id]),
      },
      own,
    ),
    optimizer: () => (optimizer ??= makeOptimizer(trainedSpecs(config, own.lora), threads)),
    roles: new Map(adapter === null ? [] : [["base", base]]),
  };
}

function answers(): Answers {
  let started: Replica | null = null;
  const replica = (): Replica => {
    if (started === null) throw new Error("the worker was called before it was started");
    return started;
  };
  const setWeights = async (flat: Float32Array): Promise<null> => {
    const { weights, sampler } = replica();
    if (flat !== weights.flat) weights.flat.set(flat);
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
      return null;
    },
    logprobs({ rows, batches, model }) {
      const { trainer, weights, roles } = replica();
      const chosen = model === "policy" ? weights : roles.get(model);
      if (chosen === undefined) throw new Error(`no weights are kept as "${model}"`);
      return trainer.logprobs(chosen, rows, batches);
    },
    forwardBackward({ rows, batches, loss }) {
      const { trainer, weights } = replica();
      return trainer.forwardBackward(weights, rows, batches, loss);
    },
    takeGradients(into) {
      const { gradients } = replica().trainer;
      into.set(gradients);
      gradients.fill(0);
      return Promise.resolve(null);
    },
    async optimStep({ adam, others, publish }) {
      const { weights, trainer, optimizer } = replica();
      const { gradients } = trainer;
      for (const other of others) {
        for (let i = 0; i < gradients.length; i++) gradients[i]! += other[i]!;
      }
      const gradNorm = await (await optimizer()).apply(weights, gradients, adam);
      gradients.fill(0);
      publish.set(weights.flat);
      return { gradNorm };
    },
    setWeights,
    async keepAs(role) {
      const { roles, weights } = replica();
      roles.set(role, await weights.copy());
      return null;
    },
    async readState() {
      const { weights, optimizer } = replica();
      const { mean, square, step } = await optimizer();
      return {
        weights: weights.flat.slice(),
        optimizer: { mean: mean.slice(), square: square.slice(), step },
      };
    },
    async writeState({ weights, optimizer: state }) {
      const optimizer = await replica().optimizer();
      optimizer.mean.fill(0);
      optimizer.square.fill(0);
      optimizer.step = 0;
      if (state !== null) {
        optimizer.mean.set(state.mean);
        optimizer.square.set(state.square);
        optimizer.step = state.step;
      }
      return setWeights(weights);
    },
  };
}

/** Sampling requests overlap; everything else runs after what came before it. */
function serve(port: MessagePort): void {
  const table = answers();
  let last: Promise<unknown> = Promise.resolve();
  port.on("message", ({ id, call, argument }: WorkerRequest) => {
    const answer = async (): Promise<void> => {
      let reply: WorkerReply;
      try {
        const run = table[call] as (argument: unknown) => Promise<unknown>;
        reply = { id, answer: await run(argument) };
      } catch (error) {
        reply = { id, failure: sendError(error) };
      }
      port.postMessage(reply);
    };
    // Whatever runs must end before the thread does; requests to sample are given up at once.
    if (call === "stop") last = Promise.all([last, table.stop(null)]).then(answer);
    else if (call === "sample" || call === "forget") void last.then(answer);
    else last = last.then(answer);
  });
}

if (parentPort !== null) serve(parentPort);

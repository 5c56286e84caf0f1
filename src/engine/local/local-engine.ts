import { availableParallelism } from "node:os";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigError, DataError } from "../../base/errors.ts";
import { readJson, writeJson } from "../../base/files.ts";
import { suggest } from "../../base/nearest.ts";
import { losses } from "../../losses/index.ts";
import { flatten, readCheckpoint, unflatten, writeCheckpoint } from "../../models/checkpoint.ts";
import type { DecoderConfig } from "../../models/config.ts";
import { parameterCount } from "../../models/parameters.ts";
import { readSafetensors, writeSafetensors } from "../../models/safetensors.ts";
import { loadTokenizer, type Tokenizer } from "../../text/tokenizer.ts";
import type { LossSpec } from "../../losses/loss.ts";
import type {
  AdamOptions,
  Engine,
  ForwardBackwardResult,
  SampleRequest,
  SampleResult,
  SaveOptions,
  TrainingRow,
} from "../engine.ts";
import { microBatches, type MicroBatch } from "./batching.ts";
import type { OptimizerState, StartOptions } from "./messages.ts";
import { startWorker, type WorkerLink } from "./worker-link.ts";

export interface LocalEngineOptions {
  /** A Hugging Face folder. */
  model: string;
  /** Worker threads, one replica each; every core by default. Results depend on it in the last bits (order of sums). */
  workers?: number;
  /** Sequences decoded together per worker. */
  slots?: number;
  /** Positions per micro-batch and worker. About a thousand keeps activations of small models in the processor's cache. */
  microBatchTokens?: number;
}

/** The engine in this process, with the tokenizer of the model that it runs. */
export interface LocalEngine extends Engine {
  readonly config: DecoderConfig;
  readonly tokenizer: Tokenizer;
  readonly workers: number;
}

const OPTIMIZER_FILE = "optimizer.safetensors";
const STATE_FILE = "training-state.json";

/**
 * Loads a model and starts its workers: data-parallel replicas of one thread each, which together outrun one session with as
 * many threads (docs/lab-log.md). The first worker holds the optimiser's state.
 * @throws {DataError} when the folder does not hold a model that can be run.
 */
export async function openLocalEngine(options: LocalEngineOptions): Promise<LocalEngine> {
  const { model, slots = 32, microBatchTokens = 1024 } = options;
  const { config, weights } = await readCheckpoint(model);
  const tokenizer = await loadTokenizer(model);
  if (tokenizer.vocabSize > config.vocabSize) {
    throw new DataError(
      "CHECKPOINT_MISFIT",
      `${model}: tokenizer.json has ids up to ${tokenizer.vocabSize - 1}, config.json's vocab_size is ${config.vocabSize}. Use the tokenizer that the model was trained with.`,
    );
  }
  const links = Array.from({ length: options.workers ?? availableParallelism() }, startWorker);
  const start: StartOptions = {
    ...{ config, weights, adapter: null, slots, threads: 1 },
    tokenBytes: tokenTable(tokenizer, config.vocabSize),
  };
  await Promise.all(links.map((link) => link.call("start", start)));
  const state = join(model, STATE_FILE);
  const engine = new LocalEngineOverWorkers({ model, config, tokenizer, links, microBatchTokens });
  if (existsSync(state)) await engine.load(model);
  return engine;
}

interface Parts {
  model: string;
  config: DecoderConfig;
  tokenizer: Tokenizer;
  links: readonly WorkerLink[];
  microBatchTokens: number;
}

class LocalEngineOverWorkers implements LocalEngine {
  readonly config: DecoderConfig;
  readonly tokenizer: Tokenizer;
  readonly capabilities;
  policyVersion = 0;
  readonly #parts: Parts;
  readonly #homes = new Map<string, number>();
  readonly #roles = new Set<string>();
  #opened = 0;
  /** Shared with the workers: new weights, then the gradients of each worker but the first. */
  readonly #shared: readonly Float32Array[];

  constructor(parts: Parts) {
    this.#parts = parts;
    const bytes = 4 * parameterCount(parts.config);
    this.#shared = parts.links.map(() => new Float32Array(new SharedArrayBuffer(bytes)));
    this.config = parts.config;
    this.tokenizer = parts.tokenizer;
    this.capabilities = { maxPositions: parts.config.maxPositions, losses: losses.names };
  }

  get workers(): number {
    return this.#parts.links.length;
  }

  get #lead(): WorkerLink {
    return this.#parts.links[0]!;
  }

  async sample(request: SampleRequest): Promise<SampleResult> {
    const { maxPositions } = this.capabilities;
    if (request.promptIds.length === 0 || request.promptIds.length >= maxPositions) {
      throw new DataError(
        "PROMPT_TOO_LONG",
        `a prompt of ${request.promptIds.length} tokens: between 1 and ${maxPositions - 1} fit this model's ${maxPositions} positions. Shorten observations or turns.`,
      );
    }
    return this.#home(request.sequence).call("sample", request);
  }

  /** A sequence stays with one worker: its cache lies there. New ones are dealt in turn. */
  #home(sequence: string | null): WorkerLink {
    let home = sequence === null ? undefined : this.#homes.get(sequence);
    if (home === undefined) {
      home = this.#opened++ % this.workers;
      if (sequence !== null) this.#homes.set(sequence, home);
    }
    return this.#parts.links[home]!;
  }

  forget(sequence: string): void {
    if (!this.#homes.has(sequence)) return;
    // Nobody waits for it; a worker that has ended says so to the calls that count.
    this.#home(sequence)
      .call("forget", sequence)
      .catch(() => undefined);
    this.#homes.delete(sequence);
  }

  async logprobs(rows: readonly TrainingRow[], model = "policy"): Promise<Float32Array[]> {
    if (model !== "policy" && !this.#roles.has(model)) {
      throw new ConfigError(
        "ENGINE_NO_ROLE",
        `log-probabilities of "${model}": no weights are kept under that name. ${suggest(model, ["policy", ...this.#roles])}`,
      );
    }
    const parts = await this.#spread(rows, (link, shard) =>
      link.call("logprobs", { ...shard, model }),
    );
    return mergeRows(rows, parts);
  }

  async forwardBackward(
    rows: readonly TrainingRow[],
    loss: LossSpec,
  ): Promise<ForwardBackwardResult> {
    const parts = await this.#spread(rows, (link, shard) =>
      link.call("forwardBackward", { ...shard, loss }),
    );
    const metrics: Record<string, number> = {};
    let total = 0;
    for (const { answer } of parts) {
      total += answer.loss;
      for (const [name, value] of Object.entries(answer.metrics)) {
        metrics[name] = (metrics[name] ?? 0) + value;
      }
    }
    const logprobs = parts.map(({ places, answer }) => ({ places, answer: answer.logprobs }));
    return { loss: total, logprobs: mergeRows(rows, logprobs), metrics };
  }

  /**
   * Deals micro-batches to the workers in turn: which worker sums what is fixed by the rows alone. Each worker is sent its own
   * rows only.
   */
  async #spread<T>(
    rows: readonly TrainingRow[],
    work: (link: WorkerLink, shard: Shard) => Promise<T>,
  ): Promise<{ places: number[]; answer: T }[]> {
    const batches = microBatches(rows, this.#parts.microBatchTokens, this.workers);
    return Promise.all(
      this.#parts.links.map(async (link, w) => {
        const own = batches.filter((_, i) => i % this.workers === w);
        const places = own.flatMap((batch) => batch.rows);
        let at = 0;
        const renumbered = own.map((batch) => ({ ...batch, rows: batch.rows.map(() => at++) }));
        const shard = { rows: places.map((row) => rows[row]!), batches: renumbered };
        return { places, answer: await work(link, shard) };
      }),
    );
  }

  async optimStep(adam: AdamOptions): Promise<{ gradNorm: number }> {
    const [publish, ...others] = this.#shared;
    const followers = this.#parts.links.slice(1);
    await Promise.all(followers.map((link, i) => link.call("takeGradients", others[i]!)));
    const { gradNorm } = await this.#lead.call("optimStep", { adam, others, publish: publish! });
    await Promise.all(this.#parts.links.map((link) => link.call("setWeights", publish!)));
    this.policyVersion += 1;
    return { gradNorm };
  }

  async keepAs(role: string): Promise<void> {
    await Promise.all(this.#parts.links.map((link) => link.call("keepAs", role)));
    this.#roles.add(role);
  }

  async save(folder: string, options: SaveOptions = {}): Promise<void> {
    const { config } = this;
    const { weights, optimizer } = await this.#lead.call("readState", null);
    const dtype = options.dtype ?? "F32";
    await writeCheckpoint(folder, { config, weights }, { dtype, tokenizerFrom: this.#parts.model });
    if (options.optimizer !== true) return;
    const moments = (["mean", "square"] as const).flatMap((kind) =>
      unflatten(config, optimizer[kind]).map((tensor) => ({
        ...tensor,
        name: `${kind}.${tensor.name}`,
      })),
    );
    await writeSafetensors(join(folder, OPTIMIZER_FILE), moments, "F32");
    // Written last: a folder with it is complete.
    const state = { step: optimizer.step, policyVersion: this.policyVersion };
    await writeJson(join(folder, STATE_FILE), state);
  }

  async load(folder: string): Promise<void> {
    const { weights } = await readCheckpoint(folder);
    let optimizer: OptimizerState | null = null;
    this.policyVersion = 0;
    if (existsSync(join(folder, STATE_FILE))) {
      const state = (await readJson(join(folder, STATE_FILE))) as {
        step: number;
        policyVersion: number;
      };
      const path = join(folder, OPTIMIZER_FILE);
      const tensors = await readSafetensors(path);
      const moments = (kind: string): Float32Array => {
        const own = [...tensors].filter(([name]) => name.startsWith(`${kind}.`));
        const named = own.map(([name, tensor]) => [name.slice(kind.length + 1), tensor] as const);
        return flatten(this.config, new Map(named), path);
      };
      optimizer = { mean: moments("mean"), square: moments("square"), step: state.step };
      this.policyVersion = state.policyVersion;
    }
    await this.#lead.call("writeState", { weights, optimizer });
    await Promise.all(this.#parts.links.slice(1).map((link) => link.call("setWeights", weights)));
  }

  async close(): Promise<void> {
    await Promise.all(this.#parts.links.map((link) => link.close()));
  }
}

/** Rows and the micro-batches that hold them, for one worker. */
interface Shard {
  rows: readonly TrainingRow[];
  batches: MicroBatch[];
}

/** Puts the workers' results back where their rows stood. */
function mergeRows(
  rows: readonly TrainingRow[],
  parts: readonly { places: readonly number[]; answer: readonly Float32Array[] }[],
): Float32Array[] {
  const merged = new Array<Float32Array>(rows.length);
  for (const { places, answer } of parts) places.forEach((row, i) => (merged[row] = answer[i]!));
  return merged;
}

function tokenTable(tokenizer: Tokenizer, size: number): StartOptions["tokenBytes"] {
  const pieces = Array.from({ length: size }, (_, id) => tokenizer.bytes(id));
  const ends = new Int32Array(size);
  let at = 0;
  pieces.forEach((piece, id) => (ends[id] = at += piece.length));
  const bytes = new Uint8Array(at);
  pieces.forEach((piece, id) => {
    bytes.set(piece, ends[id]! - piece.length);
  });
  return { bytes, ends };
}

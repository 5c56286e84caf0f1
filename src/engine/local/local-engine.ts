import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { AdamOptions } from "../../autodiff/adamw.ts";
import { ConfigError, DataError } from "../../base/errors.ts";
import { loadedPlugins } from "../../base/plugins.ts";
import { suggest } from "../../base/nearest.ts";
import { defaultDeadlines, milliseconds } from "../../base/waits/deadlines.ts";
import { losses } from "../../losses/index.ts";
import type { LossSpec } from "../../losses/loss.ts";
import { readWeights } from "../../models/checkpoint.ts";
import type { DecoderConfig, ValueHead } from "../../models/config.ts";
import type { Recompute } from "../../models/decoder.ts";
import { isAdapterFolder } from "../../models/lora/adapter-folder.ts";
import { type Adapter, type LoraConfig, trainedSpecs } from "../../models/lora/lora.ts";
import { parameterCount, totalSize } from "../../models/parameters.ts";
import { requireAsRecorded } from "../../models/recorded-files.ts";
import type { DeviceName } from "../../onnx/device-names.ts";
import { fastestDevice } from "../../onnx/device-probe.ts";
import type { Traffic } from "../../onnx/session.ts";
import { type Tokenizer, loadTokenizer } from "../../text/tokenizer.ts";
import type {
  CriticTrunk,
  EngineCapabilities,
  EngineMachine,
  ForwardBackwardResult,
  PolicyEngine,
  SampleRequest,
  SampleResult,
  SaveOptions,
  TrainedName,
  TrainingRow,
} from "../engine.ts";
import {
  CRITIC_FOLDER,
  type FreshLora,
  type TrainedModel,
  hasTrainingState,
  isOfPolicy,
  loadTrained,
  openModel,
  saveTrained,
  savedVersion,
} from "./engine-files.ts";
import { storageDtypeOf } from "./frozen-weights.ts";
import type { StartOptions } from "./messages.ts";
import { notANumber } from "./sampler.ts";
import { mergeRows, spread } from "./shards.ts";
import { type SamplingWeightType, type StorageDtype, requireSampling } from "./storage-dtypes.ts";
import {
  type TrainedState,
  refuseAfterFailedStep,
  sharedTraining,
  stateInWorker,
  stateOverWorkers,
} from "./trained-state.ts";
import type { Score } from "./training-graph.ts";
import { type WorkerLink, defaultWorkers, startWorker } from "./worker-link.ts";

export interface LocalEngineOptions {
  /** A Hugging Face folder, or a PEFT folder, whose adapters are the only trained parameters. */
  model: string;
  /** Folder of an adapter's base; default: the one in `adapter_config.json`. */
  base?: string;
  /** New adapters over a whole model; only they are trained and saved. */
  lora?: FreshLora;
  device?: DeviceName | "auto";
  /** Worker threads with a replica each; default: `defaultWorkers`. The number changes the last bits of results (order of sums). */
  workers?: number;
  /** Threads of each worker; default: every core for a single worker, else one. */
  threads?: number;
  slots?: number;
  /** Positions per micro-batch and worker. About a thousand keeps activations of small models in the CPU's cache. */
  microBatchTokens?: number;
  /** What is computed again instead of being kept from forward to backward: less memory, more time. */
  recompute?: Recompute;
  /** Storage dtype of frozen weights: the base under adapters, or all weights for inference. Default float32. */
  frozenWeights?: StorageDtype;
  /** Matrices that sampling uses: the weights (default), or copies of 8 bits, which are faster and draw from a slightly other policy. CPU only. */
  samplingWeights?: SamplingWeightType;
  /** A critic for `values`, which begins at 0: a second decoder with the policy's weights, or a head on the policy's trunk. */
  critic?: CriticTrunk;
  /** false: inference only; no gradients and no optimizer state are allocated. */
  trains?: boolean;
  /** Deadline for a heartbeat of a busy worker thread; null: none; default: `defaultDeadlines`. */
  stallMs?: number | null;
}

/** The engine of this process, with its model's tokenizer. */
export interface LocalEngine extends PolicyEngine {
  readonly config: DecoderConfig;
  readonly lora: LoraConfig | null;
  readonly workers: number;
  readonly device: DeviceName;
  traffic(): Promise<Traffic>;
}

/**
 * Loads a model and starts its workers: replicas with one thread each, faster than one session with many (docs/lab-log.md).
 * @throws {DataError} when the model is not supported. @throws {ExternalError} ENGINE_STALLED, ENGINE_OUT_OF_MEMORY, ENGINE_STOPPED,
 * here and from every call, when a worker thread fails.
 */
export async function openLocalEngine(options: LocalEngineOptions): Promise<LocalEngine> {
  const { critic, ...rest } = options;
  if (critic !== "own")
    return openModelEngine(rest, critic === undefined ? {} : { valueHead: "beside" });
  const policy = await openModelEngine(rest, {});
  try {
    // It never samples.
    const own = await openModelEngine(
      { ...rest, slots: 1, samplingWeights: "float32" },
      { valueHead: "instead" },
    );
    policy.addCritic(own);
  } catch (error) {
    await policy.close();
    throw error;
  }
  return policy;
}

async function openModelEngine(
  options: Omit<LocalEngineOptions, "critic">,
  head: { valueHead?: ValueHead },
): Promise<LocalEngineOverWorkers> {
  const { model, slots = 32, microBatchTokens = 1024 } = options;
  const { stallMs = milliseconds(defaultDeadlines.engineSeconds) } = options;
  const opened = await openModel(model, { ...options, ...head });
  const { config, base } = opened;
  // While the workers start: hashing takes as long as reading.
  const isRead = options.trains === false ? isOfPolicy : undefined;
  const recorded = Promise.all(
    [...new Set([model, base])].map((each) => requireAsRecorded(each, isRead)),
  );
  recorded.catch(() => undefined);
  const tokenizer = await loadTokenizer(base);
  if (tokenizer.vocabSize > config.vocabSize) {
    const message = `${base}: tokenizer.json has ids up to ${tokenizer.vocabSize - 1}, but config.json's vocab_size is ${config.vocabSize}. Use the tokenizer that the model was trained with.`;
    throw new DataError("CHECKPOINT_MISFIT", message);
  }
  const { device: named = "cpu", samplingWeights: sampling = "float32" } = options;
  const fastest = sampling === "int8" ? () => "cpu" as const : fastestDevice;
  const device = named === "auto" ? await fastest(parameterCount(config)) : named;
  requireSampling(sampling, device);
  const workers = options.workers ?? defaultWorkers(device, config);
  const asked = options.frozenWeights ?? "float32";
  const adapter =
    opened.adapter ?? (options.trains === false && asked !== "float32" ? NO_ADAPTER : null);
  const frozen = adapter === null ? null : await storageDtypeOf(asked, device, base);
  const links = Array.from({ length: workers }, (_, rank) =>
    startWorker({ name: `engine worker ${rank + 1} of ${workers}`, stallMs }),
  );
  const specs = trainedSpecs(config, adapter?.lora ?? null);
  const shared = workers === 1 ? null : sharedTraining(totalSize(specs), workers);
  if (adapter !== null) shared?.weights.set(adapter.weights);
  else if (shared !== null) await readWeights(base, config, shared.weights);
  const start: Omit<StartOptions, "rank"> = {
    config,
    base,
    adapter,
    frozen,
    slots,
    sampling,
    device,
    shared,
    // Several workers share the cores; a single worker uses all of them.
    threads: options.threads ?? (workers === 1 ? availableParallelism() : 1),
    memory: { recompute: options.recompute ?? false },
    tokenBytes: tokenTable(tokenizer, config.vocabSize),
    plugins: loadedPlugins()
      .filter(({ parts }) => parts.some(({ kind }) => kind === "loss"))
      .map(({ file }) => file),
  };
  try {
    await Promise.all(links.map((link, rank) => link.call("start", { ...start, rank })));
    await recorded;
  } catch (error) {
    await Promise.allSettled(links.map((link) => link.close()));
    throw error;
  }
  const trained = { config, base, lora: adapter?.lora ?? null };
  const state = refuseAfterFailedStep(
    shared === null ? stateInWorker(links[0]!) : stateOverWorkers(links, shared),
  );
  const hasValues = head.valueHead !== undefined;
  const parts = { trained, tokenizer, links, state, device, sampling, microBatchTokens, hasValues };
  const engine = new LocalEngineOverWorkers(parts);
  // What a policy had learned of its optimiser is none of a new critic's, nor of fresh adapters'.
  const isFresh = options.lora !== undefined && !isAdapterFolder(model);
  if (hasTrainingState(model) && head.valueHead !== "instead" && !isFresh) {
    if (options.trains === false) engine.policyVersion = await savedVersion(model);
    else await engine.load(model);
  }
  return engine;
}

/** An adapter without layers: the whole model is frozen, nothing is trained. */
const NO_ADAPTER: Adapter = {
  lora: { rank: 1, alpha: 1, rslora: false, targets: [] },
  weights: new Float32Array(0),
};

interface Parts {
  trained: TrainedModel;
  tokenizer: Tokenizer;
  links: readonly WorkerLink[];
  state: TrainedState;
  device: DeviceName;
  sampling: SamplingWeightType;
  microBatchTokens: number;
  hasValues: boolean;
}

class LocalEngineOverWorkers implements LocalEngine {
  readonly config: DecoderConfig;
  readonly lora: LoraConfig | null;
  readonly tokenizer: Tokenizer;
  readonly device: DeviceName;
  policyVersion = 0;
  readonly #parts: Parts;
  readonly #homes = new Map<string, number>();
  readonly #roles = new Set<string>();
  #critic: LocalEngineOverWorkers | null = null;
  #opened = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { config, lora } = parts.trained;
    this.config = config;
    this.lora = lora;
    if (lora !== null) this.#roles.add("base");
    this.tokenizer = parts.tokenizer;
    this.device = parts.device;
  }

  get capabilities(): EngineCapabilities {
    const { maxPositions, vocabSize } = this.config;
    const critic = this.#parts.hasValues ? "shared" : this.#critic === null ? null : "own";
    const adapters = this.lora !== null;
    const limits = { maxPositions, vocabSize, temperatures: true };
    return { ...limits, adapters, losses: losses.names, critic };
  }

  addCritic(critic: LocalEngineOverWorkers): void {
    this.#critic = critic;
  }

  /** @throws {ConfigError} ENGINE_NO_ROLE */
  #trained(model: TrainedName): LocalEngineOverWorkers {
    if (model === "policy") return this;
    if (this.#critic !== null) return this.#critic;
    const message = `this engine has no critic with its own decoder. Open it with critic "own", or train the value head with the policy.`;
    throw new ConfigError("ENGINE_NO_ROLE", message);
  }

  get #spread(): Parameters<typeof spread>[1] {
    return { ...this.#parts, width: this.config.hiddenSize };
  }

  get machine(): EngineMachine {
    const { sampling } = this.#parts;
    const more = sampling === "float32" ? {} : { samplingWeights: sampling };
    return { device: this.device, workers: this.workers, ...more };
  }

  get workers(): number {
    return this.#parts.links.length;
  }

  async sample(request: SampleRequest): Promise<SampleResult> {
    const { maxPositions } = this.capabilities;
    if (request.promptIds.length === 0 || request.promptIds.length >= maxPositions) {
      const message = `the prompt has ${request.promptIds.length} tokens, but this model's ${maxPositions} positions allow 1 to ${maxPositions - 1}. Shorten observations or turns.`;
      throw new DataError("PROMPT_TOO_LONG", message);
    }
    return this.#home(request.sequence).call("sample", request);
  }

  /** A sequence always uses the same worker, which has its cache. New sequences are assigned in turn. */
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
    // Nobody awaits it; if the worker has ended, later calls report it.
    this.#home(sequence)
      .call("forget", sequence)
      .catch(() => undefined);
    this.#homes.delete(sequence);
  }

  async logprobs(rows: readonly TrainingRow[], model = "policy"): Promise<Float32Array[]> {
    if (model !== "policy" && !this.#roles.has(model)) {
      const message = `log-probabilities of "${model}": there are no weights with that name. ${suggest(model, ["policy", ...this.#roles])}`;
      throw new ConfigError("ENGINE_NO_ROLE", message);
    }
    return this.#score(rows, "logprobs", model);
  }

  values(rows: readonly TrainingRow[]): Promise<Float32Array[]> {
    const critic = this.#parts.hasValues ? this : this.#trained("critic");
    return critic.#score(rows, "values", "policy");
  }

  async #score(rows: readonly TrainingRow[], score: Score, model: string): Promise<Float32Array[]> {
    const parts = await spread(rows, this.#spread, (link, shard) =>
      link.call("score", { ...shard, model, score }),
    );
    const scores = mergeRows(rows, parts);
    const isWrong = ({ fields }: TrainingRow, r: number): boolean =>
      scores[r]!.some((each, i) => Number.isNaN(each) && fields.weights[i] !== 0);
    if (score === "logprobs" && rows.some(isWrong)) throw notANumber("a token's log-probability");
    return scores;
  }

  async forwardBackward(
    rows: readonly TrainingRow[],
    loss: LossSpec,
    model: TrainedName = "policy",
  ): Promise<ForwardBackwardResult> {
    if (model === "critic") return this.#trained(model).forwardBackward(rows, loss);
    const parts = await spread(rows, this.#spread, (link, shard) =>
      link.call("forwardBackward", { ...shard, loss }),
    );
    const metrics: Record<string, number> = {};
    let total = 0;
    for (const { answer } of parts) {
      total += answer.loss;
      for (const [name, value] of Object.entries(answer.metrics))
        metrics[name] = (metrics[name] ?? 0) + value;
    }
    const logprobs = parts.map(({ places, answer }) => ({ places, answer: answer.logprobs }));
    return { loss: total, logprobs: mergeRows(rows, logprobs), metrics };
  }

  async optimStep(adam: AdamOptions, model: TrainedName = "policy"): Promise<{ gradNorm: number }> {
    if (model === "critic") return this.#trained(model).optimStep(adam);
    const { gradNorm } = await this.#parts.state.optimStep(adam);
    this.policyVersion += 1;
    return { gradNorm };
  }

  async snapshot(role: string): Promise<void> {
    await Promise.all(this.#parts.links.map((link) => link.call("snapshot", role)));
    this.#roles.add(role);
  }

  async save(folder: string, options: SaveOptions = {}): Promise<void> {
    const { policyVersion } = this;
    const state = { ...(await this.#parts.state.read()), policyVersion };
    await saveTrained(folder, this.#parts.trained, state, options);
    // Only training goes on with it.
    if (options.optimizer === true) await this.#critic?.save(join(folder, CRITIC_FOLDER), options);
  }

  async load(folder: string): Promise<void> {
    const { weights, optimizer, policyVersion } = await loadTrained(folder, this.#parts.trained);
    this.policyVersion = policyVersion;
    await this.#parts.state.write(weights, optimizer);
    const own = join(folder, CRITIC_FOLDER);
    // From a folder without a critic it begins as at the start: with the policy's weights, and at 0.
    if (existsSync(own)) await this.#critic?.load(own);
    else await this.#critic?.begin(folder);
  }

  /** Takes a policy's weights as those of a new critic. */
  async begin(folder: string): Promise<void> {
    const { weights } = await loadTrained(folder, this.#parts.trained, { state: false });
    await this.#parts.state.write(weights, null);
  }

  traffic(): Promise<Traffic> {
    return this.#parts.links[0]!.call("traffic", null);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#parts.links.map((link) => link.close()), this.#critic?.close()]);
  }
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

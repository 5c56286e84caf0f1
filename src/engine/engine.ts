import type { AdamOptions } from "../autodiff/adamw.ts";
import { ConfigError } from "../base/errors.ts";
import type { LossSpec } from "../losses/loss.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import type { CallFinish } from "../trajectory/trajectory.ts";

/** What an algorithm needs: sample, log-probabilities, gradients, step. It follows the Tinker API (docs/architecture.md). */
export interface Engine {
  readonly capabilities: EngineCapabilities;
  /** Optimizer steps since the weights were loaded. */
  readonly policyVersion: number;

  /**
   * Completes a prompt. Concurrent calls are batched and resolve separately; a result depends on request and weights alone.
   * @throws {DataError} PROMPT_TOO_LONG when the prompt leaves no room in the context.
   */
  sample(request: SampleRequest): Promise<SampleResult>;
  forget(sequence: string): void;
  /** Samples from the weights held now, also while later training calls run. Absent where an engine cannot. */
  samplingClient?(): Promise<SamplingClient>;

  /**
   * Log-probabilities (nats) of targets by "policy" or a snapshot, at temperature 1 or the row's own (`TEMPERATURES`); NaN where weight is 0.
   * @throws {ConfigError} ENGINE_NO_ROLE when there is no such snapshot.
   */
  logprobs(rows: readonly TrainingRow[], model?: string): Promise<Float32Array[]>;

  /** The critic's value of the state before each target; NaN where it is not scored. @throws {ConfigError} ENGINE_NO_ROLE without a critic. */
  values(rows: readonly TrainingRow[]): Promise<Float32Array[]>;

  /** Accumulates the gradients of a loss over rows of `model`; "critic" is one with its own decoder. */
  forwardBackward(
    rows: readonly TrainingRow[],
    loss: LossSpec,
    model?: TrainedName,
  ): Promise<ForwardBackwardResult>;
  /** One AdamW step of a model with its accumulated gradients, which it clears. */
  optimStep(adam: AdamOptions, model?: TrainedName): Promise<{ gradNorm: number }>;
  snapshot(name: string): Promise<void>;

  /** Saves a Hugging Face folder or a PEFT folder that names its base; with `optimizer`, also the state for a resume. */
  save(folder: string, options?: SaveOptions): Promise<void>;
  load(folder: string): Promise<void>;
  close(): Promise<void>;
}

/** The engine of a run, with what a run must know of its model. */
export interface PolicyEngine extends Engine {
  readonly tokenizer: Tokenizer;
  readonly machine: EngineMachine;
}

/** Results depend on it in their last bits. */
export interface EngineMachine {
  device: string;
  /** Facts beside it, such as the number of workers or the server's address (without secrets). */
  [fact: string]: string | number | undefined;
}

export interface EngineCapabilities {
  maxPositions: number;
  vocabSize: number;
  adapters: boolean;
  temperatures: boolean;
  losses: readonly string[];
  /** own: a second decoder, trained apart from the policy. shared: a head on the policy's trunk. null: no values. */
  critic: CriticTrunk | null;
}

export const criticTrunks = ["own", "shared"] as const;
export type CriticTrunk = (typeof criticTrunks)[number];

/** A model that an engine trains. */
export type TrainedName = "policy" | "critic";

export interface SampleRequest {
  promptIds: readonly number[];
  maxTokens: number;
  stopIds: readonly number[];
  /** Stop strings: the token that completes one is the last. */
  stopStrings: readonly string[];
  /** 0: greedy. */
  temperature: number;
  /** 0: off. The most likely tokens, with all that equal the last of them. */
  topK: number;
  /** 1: off. The fewest of the tokens that `topK` left whose share of their probability is at least this. */
  topP: number;
  /** Absent or 0: off. Of the tokens that are left, those with at least this share of the likeliest one's probability. */
  minP?: number | undefined;
  /** Added to the scores of token ids; −Infinity forbids a token. */
  logitBias?: Readonly<Record<number, number>>;
  /** Same seed, prompt and weights: same completion. */
  seed: number;
  /** Requests of one sequence extend each other: its cache is kept until `forget`, in a slot that others wait for. null: never continued. */
  sequence: string | null;
}

/** Weights to sample from that do not change. */
export interface SamplingClient extends Pick<Engine, "sample" | "forget"> {
  readonly policyVersion: number;
}

export interface SampleResult {
  ids: number[];
  /** Of each id over the whole vocabulary, before bias, top-k, top-p and min-p; at temperature 1 for greedy draws. */
  logprobs: number[];
  finish: CallFinish;
}

/** The field with the weights of a value loss that is joined to a policy's. */
export const VALUE_WEIGHTS = "valueWeights";

/**
 * The field with the temperature of each target: its scores are divided by it before the softmax. Without it all are 1. Policy gradients need
 * the temperature of the draw, of the policy, the old one and the reference alike (verl, TRL, OpenRLHF): else the ratio does not begin at 1.
 */
export const TEMPERATURES = "temperatures";

/** The field of temperatures, where one of them is not 1. */
export function temperatureField(
  temperatures: readonly number[],
): Readonly<Record<string, readonly number[]>> {
  return temperatures.every((each) => each === 1) ? {} : { [TEMPERATURES]: temperatures };
}

/** Whether a target is scored: some loss has a weight for it. */
export function isScored({ fields }: TrainingRow, target: number): boolean {
  return fields.weights[target] !== 0 || (fields[VALUE_WEIGHTS]?.[target] ?? 0) !== 0;
}

/** One training sequence, shifted: element i of the inputs predicts element i of the targets. */
export interface TrainingRow {
  inputs: readonly number[];
  targets: readonly number[];
  /** Each as long as the targets: `weights` of the loss, `LossSpec.joined` of a second one; tokens with weights 0 are not scored. */
  fields: Readonly<{ weights: readonly number[] } & Record<string, readonly number[]>>;
}

export interface ForwardBackwardResult {
  loss: number;
  /** Per row, as long as its targets; NaN where the target is not scored, or where the loss does not read log-probabilities. */
  logprobs: Float32Array[];
  metrics: Record<string, number>;
}

export interface SaveOptions {
  optimizer?: boolean;
  /** Dtype of the saved weights; default F32, for a bit-exact resume. */
  dtype?: "F32" | "F16" | "BF16";
  /** Merge adapters into their base: a standalone model without optimizer state. No effect without adapters. */
  merged?: boolean;
}

/** What rollouts use of an engine. */
export type RolloutEngine = Pick<
  PolicyEngine,
  "tokenizer" | "capabilities" | "policyVersion" | "sample" | "forget" | "logprobs"
>;

/** An engine for rollouts that last while the engine trains. */
export interface HeldWeights {
  engine: RolloutEngine;
  /** From now on `engine` samples from the weights of this moment, until the next call. */
  hold(): Promise<void>;
}

/** Rollouts beside a running training see the weights that were held. @throws {ConfigError} ENGINE_UNFIT when the engine cannot. */
export function heldWeights(engine: PolicyEngine): HeldWeights {
  if (engine.samplingClient === undefined) {
    const { device, dialect } = engine.machine;
    throw cannotHold(dialect === undefined ? device : `${device}, ${dialect}`);
  }
  const open = engine.samplingClient.bind(engine);
  let held: Pick<SamplingClient, "policyVersion" | "sample" | "forget"> = engine;
  return {
    async hold() {
      held = await open();
    },
    engine: {
      tokenizer: engine.tokenizer,
      get capabilities() {
        return engine.capabilities;
      },
      get policyVersion() {
        return held.policyVersion;
      },
      sample: (request) => held.sample(request),
      forget: (sequence) => {
        held.forget(sequence);
      },
      logprobs(rows, model = "policy") {
        if (model !== "policy") return engine.logprobs(rows, model);
        return Promise.reject(
          new ConfigError(
            "ENGINE_UNFIT",
            "algorithm.maxStepsOffPolicy: rollouts or rewards ask for log-probabilities of the policy, which is being trained meanwhile. Let them ask a model of its own (models), or set algorithm.maxStepsOffPolicy: 0.",
          ),
        );
      },
    },
  };
}

/** @param where it computes. */
export function cannotHold(where: string): ConfigError {
  const message = `algorithm.maxStepsOffPolicy is 1: the engine (${where}) cannot sample from the weights before a step while it trains. Set it to 0, or use engine.name: tinker at another server (docs/servers.md).`;
  return new ConfigError("ENGINE_UNFIT", message);
}

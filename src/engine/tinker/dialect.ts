import type { AdamOptions } from "../../autodiff/adamw.ts";

/** Differences between servers of the Tinker API that change numbers, or that a client must know to be understood. */
export interface Dialect {
  readonly name: DialectName;
  /** Encoding of `forward_backward` and of its result. */
  readonly encoding: "protobuf" | "json";
  /** sum: a row's loss is Σ weight · token loss. mean: divided by its tokens (or weights), and by the rows of a step. */
  readonly aggregation: "sum" | "mean";
  /** How log-probabilities are asked for: a flag of `forward_backward`, a path of its own, or weights of 0. */
  readonly forward: "flag" | "path" | "weights";
  /** The same training call, sent twice, is done once. Otherwise a call whose reply was lost cannot be sent again. */
  readonly repeats: boolean;
  /** Seeds of draws are below this. */
  readonly seeds: number;
  /** Options of the optimiser that are honoured, besides the learning rate. */
  readonly adam: readonly Exclude<keyof AdamOptions, "learningRate">[];
  /** Whether log-probabilities can be at other temperatures than 1: those of draws are at the draw's, and rows may have `temperatures`. */
  readonly temperatures: boolean;
  readonly minP: boolean;
  /** Whether `ppo` reads `clip_low_threshold` and `clip_high_threshold`, bounds of the ratio. */
  readonly ratioBounds: boolean;
  /** The adapters' alpha where the server does not report it; null: unknown. */
  readonly alpha: (asked: { rank: number; alpha: number }) => number | null;
  /** What `lora_config` has beyond the official API. */
  readonly loraConfig: (asked: { alpha: number }) => Readonly<Record<string, number>>;
  /** What `save_weights` must say so that the optimizer's state is saved too. */
  readonly saveOptimizer: Readonly<Record<string, boolean>>;
  /** Whether weights that a model saved outlive its unloading. */
  readonly keepsSaved: boolean;
  /** Whether draws from weights of before are from these, and not from the newest ones. */
  readonly holdsWeights: boolean;
  /** How many models with all weights trained (rank 0) it holds: none, or one, beside which there is no other model, or several. */
  readonly fullWeights: "none" | "one" | "several";
  /** Gradients that were not applied stay when their model is unloaded, and the next model's first step applies them. */
  readonly keepsGradients: boolean;
}

const MOMENTS = ["beta1", "beta2", "epsilon", "weightDecay"] as const;

const plain: Omit<Dialect, "name"> = {
  encoding: "protobuf",
  aggregation: "sum",
  forward: "flag",
  repeats: false,
  adam: [...MOMENTS, "gradClipNorm"],
  ratioBounds: true,
  seeds: 2 ** 32,
  alpha: () => null,
  loraConfig: () => ({}),
  saveOptimizer: {},
  keepsSaved: true,
  holdsWeights: true,
  fullWeights: "none",
  keepsGradients: false,
  temperatures: false,
  minP: false,
};

/** Servers as found in November 2026: `agentrl serve engine`; SkyRL 0.4 (JAX, FSDP or Megatron); TuFT 0.2; Open-RL; the hosted service. */
const servers = {
  agentrl: {
    ...plain,
    repeats: true,
    temperatures: true,
    minP: true,
    fullWeights: "several",
    loraConfig: ({ alpha }) => ({ alpha }),
  },
  "skyrl-jax": {
    ...plain,
    aggregation: "mean",
    repeats: true,
    adam: MOMENTS,
    alpha: () => 32,
    // Its draws take an int32: others end in "out of bounds".
    seeds: 2 ** 31,
    keepsGradients: true,
  },
  // Its sampler draws by the model's name: an older sampling session draws from the newest weights.
  skyrl: {
    ...plain,
    repeats: true,
    adam: [],
    alpha: () => 32,
    fullWeights: "one",
    holdsWeights: false,
  },
  tuft: { ...plain, alpha: ({ rank }) => 2 * rank, keepsSaved: false },
  "open-rl": {
    ...plain,
    encoding: "json",
    forward: "weights",
    ratioBounds: false,
    alpha: ({ alpha }) => alpha,
    // Left alone, its adapters have a dropout of .05 wherever it computes log-probabilities and gradients.
    loraConfig: ({ alpha }) => ({ lora_alpha: alpha, lora_dropout: 0 }),
    saveOptimizer: { include_optimizer: true },
    holdsWeights: false,
  },
  tinker: plain,
} satisfies Record<string, Omit<Dialect, "name">>;

export type DialectName = keyof typeof servers;

export const dialectNames = Object.keys(servers) as [DialectName, ...DialectName[]];

/** The dialects of servers that train all weights. */
export function fullWeightDialects(): DialectName[] {
  return dialectNames.filter((name) => dialectNamed(name).fullWeights !== "none");
}

export function dialectNamed(name: DialectName): Dialect {
  return { name, ...servers[name] };
}

/** What a server says of itself (`get_server_capabilities`). */
export interface ServerFacts {
  supported_models: readonly { model_name: string; [fact: string]: unknown }[];
  [fact: string]: unknown;
}

/** The server's dialect as its capabilities tell it; null: they do not, and a probe must. */
export function dialectOf(facts: ServerFacts): Dialect | null {
  if (facts["agentrl"] !== undefined) return dialectNamed("agentrl");
  if (facts["single_process"] !== undefined) return dialectNamed("open-rl");
  return facts.supported_models.some((model) => model["capabilities"] !== undefined)
    ? dialectNamed("tuft")
    : null;
}

import { cp } from "node:fs/promises";
import { join } from "node:path";
import { readJson, writeJson } from "../../src/base/files.ts";
import { flatten, writeCheckpoint } from "../../src/models/checkpoint.ts";
import { parseDecoderConfig } from "../../src/models/config-json.ts";
import { parameterSpecs } from "../../src/models/parameters.ts";
import { resolveRecipe } from "../../src/run/settings/resolve-recipe.ts";
import type { Settings } from "../../src/run/settings/settings-schema.ts";
import type { ResolvedSettings } from "../../src/run/settings/settings.ts";
import { formulaWeights } from "../golden/decoder/formula-weights.mjs";

/** A trajectory as TRL's batch holds it. Log-probabilities are of the tokens with mask 1. */
export interface TrlRow {
  prompt: string;
  references: string[];
  /** The tokens that the policy sampled, by message, before anything is cut. */
  sampled: number[][];
  end: string;
  reward: number;
  advantage: number;
  promptIds: number[];
  completionIds: number[];
  /** Lengths of runs of 1, 0, 1, …; the first may be 0. */
  mask: number[];
  old?: number[];
  reference?: number[];
}

/** An optimizer step of TRL. */
export interface TrlUpdate {
  rollout: number;
  /** The sum over its forward passes, as they are differentiated. */
  loss: number;
  /** Indices within the rollout. */
  rows: number[];
  logprobs: number[][];
  /** As the trainer logs them. */
  logged: number;
  gradNorm: number;
  learningRate: number;
}

/** What trl-steps/steps.py prints. */
export interface TrlRun {
  versions: Record<string, string>;
  seed: number;
  rollouts: TrlRow[][];
  updates: TrlUpdate[];
}

/** An export that is trained with TRL, and by agentrl's own code on the same batches. */
export interface TrlCase {
  name: string;
  tier: "smoke" | "paper";
  policy: "base" | "instruct";
  set: Readonly<Record<string, unknown>>;
}

const golden = join(import.meta.dirname, "../golden");

/** Two layers of Qwen2's architecture with weights by formula; ids beyond the tokenizer's, as Qwen2.5 has them. */
const QWEN2 = {
  model_type: "qwen2",
  architectures: ["Qwen2ForCausalLM"],
  vocab_size: 704,
  hidden_size: 32,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  intermediate_size: 40,
  max_position_embeddings: 2048,
  hidden_act: "silu",
  attention_dropout: 0,
  rms_norm_eps: 1e-6,
  rope_theta: 1_000_000,
  use_sliding_window: false,
  sliding_window: 8,
  max_window_layers: 0,
  tie_word_embeddings: true,
};

/** As the instruct models of Qwen2.5 have it: their settings of sampling must not change the policy's. */
const GENERATION = {
  do_sample: true,
  eos_token_id: [678, 676],
  pad_token_id: 676,
  repetition_penalty: 1.05,
  temperature: 0.7,
  top_k: 20,
  top_p: 0.8,
};

/** @param kind EOS is `<|endoftext|>`, which pads too, or `<|im_end|>`. */
export async function writeQwen2(folder: string, kind: "base" | "instruct"): Promise<string> {
  const config = parseDecoderConfig(QWEN2, "trl-steps");
  const named = formulaWeights(parameterSpecs(config));
  const weights = flatten(config, new Map(named.map((each) => [each.name, each])), "trl-steps");
  await writeCheckpoint(folder, { config, weights }, { dtype: "F32", tokenizerFrom: folder });
  for (const file of ["tokenizer.json", "tokenizer_config.json"])
    await cp(join(golden, "trl-steps", file), join(folder, file));
  if (kind === "instruct") {
    const file = join(folder, "tokenizer_config.json");
    const keys = { ...((await readJson(file)) as object), eos_token: "<|im_end|>" };
    await writeJson(file, keys);
    await writeJson(join(folder, "generation_config.json"), GENERATION);
  }
  return folder;
}

/** trl-steps/<case>.json, written by trl-steps.nightly.test.ts with TRL; the versions and the seed are in it. */
export async function recordedTrlRun({ name }: TrlCase): Promise<TrlRun> {
  return (await readJson(join(golden, "trl-steps", `${name}.json`))) as TrlRun;
}

/** @param model folder of `writeQwen2`. */
export function settingsOf(
  { tier, set }: TrlCase,
  model: string,
): Promise<ResolvedSettings<Settings>> {
  const all = { "policy.from": model, "algorithm.oldLogprobs": "recomputed", ...set };
  const overrides = Object.entries(all).map(([key, value]) => ({ key, value, origin: "test" }));
  return resolveRecipe("search-r1", { tier, overrides });
}

const RATE = { "algorithm.optimizer.learningRate": 1e-3 };
const QUESTIONS = { name: "tinyworld", people: 100, questions: 16 };

export const TRL_CASES: readonly TrlCase[] = [
  // One update per batch.
  {
    name: "smoke",
    policy: "base",
    tier: "smoke",
    set: { ...RATE, "algorithm.promptsPerStep": 3, "algorithm.minibatches": 1 },
  },
  {
    name: "paper",
    policy: "base",
    tier: "paper",
    set: {
      ...RATE,
      dataset: { ...QUESTIONS, split: "train" },
      "evaluation.dataset": { ...QUESTIONS, split: "test" },
      ...Object.fromEntries(
        ["triviaqa", "popqa", "hotpotqa", "wikimultihop", "musique", "bamboogle"].map((set) => [
          `evaluation.sets.${set}.dataset`,
          { ...QUESTIONS, split: "test" },
        ]),
      ),
      retriever: "bm25",
      // The paper's 500 take minutes.
      "budgets.1.limit": 90,
      "algorithm.steps": 2,
      "algorithm.promptsPerStep": 2,
      "algorithm.minibatches": 2,
    },
  },
  {
    name: "dr-grpo",
    policy: "instruct",
    tier: "smoke",
    set: {
      ...RATE,
      "policy.chat": { replies: "user" },
      "environment.prompt": "{instructions}\n\nQuestion: {question}\n",
      "budgets.3.limit": 1000,
      "sampling.temperature": 0.7,
      "algorithm.promptsPerStep": 2,
      "algorithm.minibatches": 1,
      "algorithm.epochs": 2,
      "algorithm.scale": "none",
      "algorithm.lossAggregation": "fixed-length-mean",
      "algorithm.fixedLength": 256,
      "algorithm.clipHigh": 0.28,
      "algorithm.dualClip": 3,
      "algorithm.klCoef": 0.04,
      "algorithm.optimizer.weightDecay": 0.1,
    },
  },
  {
    name: "sequence-mean",
    policy: "base",
    tier: "smoke",
    set: {
      ...RATE,
      "algorithm.promptsPerStep": 3,
      "algorithm.groupSize": 6,
      "algorithm.minibatches": 2,
      "algorithm.lossAggregation": "sequence-mean",
      "algorithm.klCoef": 0,
    },
  },
];

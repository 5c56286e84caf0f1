/** Bodies of the Tinker API's JSON requests. Unknown keys are allowed: the SDK adds some with every version. */
import { shortList, wholeNumbers, z } from "../../base/schema.ts";
import { tokenChunks } from "../../engine/tinker/json-messages.ts";

const text = z.string();

export const createSession = z.object({ sdk_version: text.optional() });
export const heartbeat = z.object({ session_id: text });

export const createModel = z.object({
  session_id: text,
  model_seq_id: z.int(),
  base_model: text,
  lora_config: z.object({
    /** 0: all weights, as SkyRL reads it. */
    rank: z.int().min(0).max(512).default(32),
    seed: z.int().min(0).nullish(),
    train_mlp: z.boolean().default(true),
    train_attn: z.boolean().default(true),
    /** Not in the official API: the adapters' alpha. */
    alpha: z.number().positive().default(32),
  }),
});

export const optimStep = z.object({
  model_id: text,
  seq_id: z.int().nullish(),
  adam_params: z.object({
    learning_rate: z.number().min(0).default(1e-4),
    beta1: z.number().min(0).lt(1).default(0.9),
    beta2: z.number().min(0).lt(1).default(0.95),
    eps: z.number().positive().default(1e-12),
    weight_decay: z.number().min(0).default(0),
    grad_clip_norm: z.number().min(0).default(0),
  }),
});

/** A part of an address. */
const name = z.string().regex(/^[\w.-]+$/, "expected letters, digits, _, . and -");

export const saveWeights = z.object({
  model_id: text,
  path: name.nullish(),
  seq_id: z.int().nullish(),
  overwrite: z.boolean().nullish(),
});

export const saveForSampler = saveWeights.extend({ sampling_session_seq_id: z.int().nullish() });

const saved = { path: text, optimizer: z.boolean().default(false), seq_id: z.int().nullish() };

/** Into a model, or (SDKs from 0.38) as a session's new model. */
export const loadWeights = z.union([
  z.object({ ...saved, session_id: text, model_seq_id: z.int(), base_model: text.nullish() }),
  z.object({ ...saved, model_id: text }),
]);

export const modelOnly = z.object({ model_id: text });
export const weightsInfo = z.object({ tinker_path: text });
export const future = z.object({ request_id: text });

export const createSampling = z.object({
  session_id: text,
  sampling_session_seq_id: z.int(),
  base_model: text.nullish(),
  model_path: text.nullish(),
});

const stop = z.union([text, shortList(z.array(text), 64), wholeNumbers]).nullish();

export const sample = z.object({
  num_samples: z.int().min(1).max(4096).default(1),
  prompt: tokenChunks,
  sampling_params: z.object({
    max_tokens: z.int().min(1).nullish(),
    seed: z.int().min(0).nullish(),
    temperature: z.number().min(0).default(1),
    top_k: z.int().default(-1),
    top_p: z.number().gt(0).max(1).default(1),
    /** Not in the official API. */
    min_p: z.number().min(0).max(1).default(0),
    stop,
  }),
  sampling_session_id: text.nullish(),
  model_path: text.nullish(),
  base_model: text.nullish(),
  prompt_logprobs: z.boolean().nullish(),
});

export type SampleBody = z.output<typeof sample>;

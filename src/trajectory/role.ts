import { ConfigError } from "../base/errors.ts";
import { z } from "../base/schema.ts";

/** A model by its name in the recipe (`models: {reader: …}`). Tools, rewards, strategies and judges never open a model themselves. */
export interface Role {
  readonly name: string;
  /** Text that the model writes after a prompt. @throws {RolloutError} when an endpoint gives no answer. */
  complete(prompt: string, options: RoleRequest): Promise<string>;
  /** Log-probability (nats, temperature 1) of each token of `text` after `prompt`; null where the model cannot, or it does not fit. */
  logprobs(prompt: string, text: string, signal: AbortSignal): Promise<readonly number[] | null>;
  /** Vectors of texts, by an endpoint (`POST /embeddings`) or an `encoder`. @throws ROLE_CANNOT; {RolloutError} without an answer. */
  embed?(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
  /**
   * Log-probability (nats) of tokens (ids of `vocabulary`) per sequence; NaN where not asked, null where it does not fit. Absent: none.
   * @throws {ConfigError} VOCABULARIES_DIFFER
   */
  tokenLogprobs?(
    sequences: readonly AskedTokens[],
    vocabulary: Vocabulary,
    signal: AbortSignal,
  ): Promise<readonly (readonly number[] | null)[] | null>;
}

/** A sequence of ids, and of which of them the log-probability is wanted. The first has none. */
export interface AskedTokens {
  ids: readonly number[];
  isAsked: readonly boolean[];
  /** Of each id; 1 when absent. */
  temperatures?: readonly number[];
}

/** The tokens that ids stand for. */
export interface Vocabulary {
  /** Highest id + 1. */
  readonly vocabSize: number;
  bytes(id: number): Uint8Array;
}

export interface RoleRequest {
  maxTokens: number;
  /** 0 is greedy, and the default. */
  temperature?: number;
  /** The text ends before the first of these; it is not returned. */
  stop?: readonly string[];
  seed?: number;
  signal: AbortSignal;
}

/** The models of a run by name. */
export interface Roles {
  readonly names: readonly string[];
  /** @param where the recipe key, for the message. @throws {ConfigError} PART_UNKNOWN with the nearest name. */
  get(name: string, where: string): Role;
}

/** The roles of a run whose recipe names no models. */
export const noRoles: Roles = {
  names: [],
  get(name, where) {
    const message = `${where} names the model "${name}", but the recipe has no models.`;
    throw new ConfigError("PART_UNKNOWN", message);
  },
};

/** An option that names a model of the recipe. @example options: z.strictObject({ role: roleName().default("policy") }) */
export function roleName(): z.ZodString {
  return z.string().meta({ names: "role" });
}

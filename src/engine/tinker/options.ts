import type { FreshLora } from "../local/engine-files.ts";
import type { ServerOptions } from "./connection.ts";
import type { Dialect, DialectName } from "./dialect.ts";

/** An OpenAI-compatible server that samples with adapters which are loaded while it runs (vLLM with --enable-lora). */
export interface SamplerServer {
  url: string;
  model: string | null;
  /** Folder for adapters, which the server reads at the same path. */
  adapters: string;
  apiKeyEnv: string | null;
}

/** A server, and the model that it is asked for. */
export interface TinkerServer extends ServerOptions {
  /** The server's name of the base model; null: the only one that it has. */
  model: string | null;
  /** null: as the server tells it, or as a probe finds. */
  dialect: DialectName | null;
  /** Called with the dialect before a policy is made. @throws for one that cannot do what the run will ask. */
  requireFit?: (dialect: Dialect) => void;
  /** Samples in place of the training server; default: the training server samples. */
  sampler?: SamplerServer;
}

export interface TinkerEngineOptions {
  /** Folder of the policy here: tokenizer and config.json of the base, or what an earlier run of this engine saved. */
  model: string;
  /** Folder of the base of saved adapters. */
  base?: string;
  /** Adapters that are trained; null: all weights are. */
  lora: FreshLora | null;
  server: TinkerServer;
}

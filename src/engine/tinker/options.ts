import type { FreshLora } from "../local/engine-files.ts";
import type { ServerOptions } from "./connection.ts";
import type { DialectName } from "./dialect.ts";

/** A server, and the model that it is asked for. */
export interface TinkerServer extends ServerOptions {
  /** The server's name of the base model; null: the only one that it has. */
  model: string | null;
  /** null: as the server tells it, or as a probe finds. */
  dialect: DialectName | null;
}

export interface TinkerEngineOptions {
  /** Folder of the policy here: tokenizer and config.json of the base, or what an earlier run of this engine saved. */
  model: string;
  /** Folder of the base of saved adapters. */
  base?: string;
  lora: FreshLora;
  server: TinkerServer;
}

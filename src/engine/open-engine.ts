import { ConfigError } from "../base/errors.ts";
import type { PolicyEngine } from "./engine.ts";
import { type LocalEngineOptions, openLocalEngine } from "./local/local-engine.ts";
import type { TinkerServer } from "./tinker/options.ts";

export { isTrainingState } from "./local/engine-files.ts";
export type { TinkerServer };

/** Options of every engine. */
export interface PolicyEngineOptions extends LocalEngineOptions {
  /** A training server, which computes in place of this process. Devices, workers and memory are then its own. */
  server?: TinkerServer;
}

/** Opens an engine; `capabilities` tell what it can do. @throws as `openLocalEngine` and `openTinkerEngine`. */
export async function openPolicyEngine(options: PolicyEngineOptions): Promise<PolicyEngine> {
  const { server, ...local } = options;
  if (server === undefined) return openLocalEngine(local);
  const { model, base, lora, critic } = local;
  if (critic !== undefined) {
    const message = `engine.name is tinker: ${server.url} trains no critic. Use an algorithm without a critic, or engine.name: local.`;
    throw new ConfigError("ENGINE_UNFIT", message);
  }
  const { openTinkerEngine } = await import("./tinker/tinker-engine.ts");
  return openTinkerEngine({ model, lora: lora ?? null, server, base });
}

import { join } from "node:path";
import type { PolicyEngine } from "../../src/engine/engine.ts";
import type { FreshLora } from "../../src/engine/local/engine-files.ts";
import { openPolicyEngine } from "../../src/engine/open-engine.ts";
import type { DialectName } from "../../src/engine/tinker/dialect.ts";
import type { SamplerServer, TinkerServer } from "../../src/engine/tinker/options.ts";
import { type EngineServer, startEngineServer } from "../../src/server/engine/engine-server.ts";

/** Small enough for a test; the same on both sides, so that results can be compared. */
export const SMALL = { workers: 1, threads: 1, slots: 4, microBatchTokens: 64 };

export const smallLora: FreshLora = {
  rank: 4,
  alpha: 32,
  rslora: false,
  seed: 1,
  targets: ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
};

/** A server of the Tinker API over a model's folder, in this process. */
export function serveModel(
  model: string,
  data: string,
  options: Partial<Parameters<typeof startEngineServer>[1]> = {},
): Promise<EngineServer> {
  return startEngineServer(
    { model, ...SMALL },
    {
      host: "127.0.0.1",
      port: 0,
      data: join(data, "weights"),
      name: "tiny",
      maxModels: 4,
      bodyLimit: 2 ** 24,
      version: "0",
      ...options,
    },
  );
}

/** The remote engine over a server. */
export function openRemoteEngine(
  model: string,
  url: string,
  {
    dialect = null,
    lora = smallLora,
    apiKeyEnv = null,
    stallMs = 60_000,
    ...more
  }: {
    dialect?: DialectName | null;
    /** null: all weights are trained. */
    lora?: FreshLora | null;
    requireFit?: TinkerServer["requireFit"];
    apiKeyEnv?: string | null;
    stallMs?: number;
    sampler?: SamplerServer;
  } = {},
): Promise<PolicyEngine> {
  const server = { url, model: null, dialect, apiKeyEnv, stallMs, ...more };
  const http = { retries: 2, retryDelayMs: 10 };
  return openPolicyEngine({ model, lora: lora ?? undefined, server: { ...server, http } });
}

import { join } from "node:path";
import { onTestFinished } from "vitest";
import { buildBm25 } from "../../src/retrieval/bm25/bm25.ts";
import { scriptedPolicy } from "../../src/rollout/policy.ts";
import { loadTokenizer } from "../../src/text/tokenizer.ts";
import { serveForTest } from "./serve.ts";
import { serveModel } from "./served-engine.ts";
import { serveRecipeEnv } from "./served-env.ts";
import { servePolicy } from "./served-policy.ts";
import { writeTinyModel } from "./tiny-model.ts";

/** A server of this process, with a request that does something. */
export interface AskedServer {
  name: string;
  url: string;
  health: string;
  /** Path and body of a request that has an effect. */
  ask: { path: string; body: object };
  /** Requests that had one. */
  effects: () => number;
}

/** All servers of the package, on free ports until the test ends. */
export async function fourServers(folder: string, token?: string): Promise<AskedServer[]> {
  const own = token === undefined ? {} : { token };
  const model = await writeTinyModel(join(folder, "model"));
  const retrieval = await serveForTest(
    buildBm25([{ id: "1", title: "Oslo", text: "The capital of Norway." }]),
    own,
  );
  const { server: env } = await serveRecipeEnv("search-r1", own);
  const tokenizer = await loadTokenizer(model);
  const { server: policy } = await servePolicy(
    scriptedPolicy(tokenizer, () => "a"),
    own,
  );
  const engine = await serveModel(model, folder, own);
  onTestFinished(() => engine.close());
  return [
    {
      name: "serve",
      url: retrieval.url,
      health: "/health",
      ask: { path: "/retrieve", body: { queries: ["capital of Norway"] } },
      effects: () => retrieval.stats().queries,
    },
    {
      name: "serve env",
      url: env.url,
      health: "/health",
      ask: { path: "/reset", body: { seed: 0 } },
      effects: () => env.stats().episodes,
    },
    {
      name: "serve policy",
      url: policy.url,
      health: "/health",
      ask: { path: "/v1/chat/completions", body: { messages: [{ role: "user", content: "a" }] } },
      effects: () => policy.stats().conversations,
    },
    {
      name: "serve engine",
      url: engine.url,
      health: "/api/v1/healthz",
      ask: { path: "/api/v1/create_session", body: {} },
      // Its replies alone tell: a session has no effect that can be seen from outside.
      effects: () => 0,
    },
  ];
}

import { readdirSync } from "node:fs";
import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { PolicyEngine, SampleRequest } from "../../../src/engine/engine.ts";
import { openPolicyEngine } from "../../../src/engine/open-engine.ts";
import { enginePolicy } from "../../../src/rollout/policy.ts";
import type { EngineServer } from "../../../src/server/engine/engine-server.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { openRemoteEngine, serveModel, SMALL } from "../../helpers/served-engine.ts";
import { servePolicy } from "../../helpers/served-policy.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { tinyConfig, writeTinyModel } from "../../helpers/tiny-model.ts";

const folder = temporaryFolder();
const adapters = join(folder, "adapters");

const adam = {
  learningRate: 0.05,
  beta1: 0.9,
  beta2: 0.99,
  epsilon: 1e-8,
  weightDecay: 0,
  gradClipNorm: Infinity,
};
const plain: SampleRequest = {
  promptIds: [1, 10, 20],
  maxTokens: 12,
  stopIds: [],
  stopStrings: [],
  seed: 3,
  temperature: 1,
  topP: 1,
  topK: 0,
  sequence: null,
};

/** Trains and samples three versions: each is drawn by its own adapter, with log-probabilities as the trainer's. */
async function followsVersions(
  engine: PolicyEngine,
  names: () => Promise<string[]>,
  tolerance: number,
): Promise<number> {
  const drawn: number[][] = [];
  let worst = 0;
  for (let version = 0; version < 4; version++) {
    const { ids, logprobs } = await engine.sample(plain);
    drawn.push(ids);
    const all = [...plain.promptIds, ...ids];
    const targets = all.slice(1);
    const fields = { weights: targets.map((_, i) => (i < 2 ? 0 : 1)) };
    const row = { inputs: all.slice(0, -1), targets, fields };
    const [scored] = await engine.logprobs([row]);
    for (const [i, each] of logprobs.entries())
      worst = Math.max(worst, Math.abs(each - scored![i + 2]!));
    expect((await names()).at(-1)).toMatch(new RegExp(`^agentrl-[0-9a-f]{8}-v${version}-`));
    await engine.forwardBackward([row], { name: "cross-entropy", options: {} });
    await engine.optimStep(adam);
    expect(engine.policyVersion).toBe(version + 1);
  }
  expect(drawn[3]).not.toEqual(drawn[0]);
  expect(worst).toBeLessThan(tolerance);
  return worst;
}

const proxies: Server[] = [];
afterAll(() => {
  for (const proxy of proxies) {
    proxy.closeAllConnections();
    proxy.close();
  }
});

/** A training server whose `asample` is refused, as TuFT's without its sampler. */
async function trainingOnly(url: string): Promise<string> {
  const proxy = createServer((given, reply) => {
    if (given.url?.endsWith("/asample") === true) {
      reply.writeHead(400, { "content-type": "application/json" }).end('{"detail":"no sampling"}');
      return;
    }
    const { method, headers } = given;
    const onward = httpRequest(new URL(given.url ?? "", url), { method, headers }, (answer) => {
      answer.pipe(reply.writeHead(answer.statusCode ?? 502, answer.headers));
    });
    onward.on("error", () => reply.destroy());
    given.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  proxies.push(proxy);
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

describe("a training server that does not sample, and serve policy as its sampler", () => {
  let server: EngineServer;
  let trainer = "";
  let model = "";
  beforeAll(async () => {
    model = await writeTinyModel(join(folder, "model"));
    server = await serveModel(model, folder);
    trainer = await trainingOnly(server.url);
  });
  afterAll(() => server.close());

  /** The server of a policy, with the adapters' folder. */
  async function sampler(from: string) {
    const own = { ...SMALL, trains: false };
    const engine = await openPolicyEngine({ model: from, ...own });
    const client = await servePolicy(enginePolicy(engine, engine.tokenizer), {
      adapters: {
        root: folder,
        most: 3,
        async open(at) {
          const adapted = await openPolicyEngine({ model: at, base: from, ...own });
          const close = () => adapted.close();
          return { policy: enginePolicy(adapted, adapted.tokenizer), close };
        },
      },
    });
    onTestFinished(() => engine.close());
    return client;
  }

  async function open(url: string, to = trainer): Promise<PolicyEngine> {
    const given = { url, model: null, adapters, apiKeyEnv: null };
    return openRemoteEngine(model, to, { sampler: given });
  }

  it("samples each version from its own adapter, with the trainer's log-probabilities", async () => {
    const { server: policies, get } = await sampler(model);
    const engine = await open(policies.url);
    const names = async () =>
      ((await get("/v1/models")).body as unknown as { data: { id: string }[] }).data.map(
        ({ id }) => id,
      );
    await followsVersions(engine, names, 1e-4);
    // The base and the two newest versions.
    expect(await names()).toHaveLength(3);
    expect(readdirSync(adapters)).toHaveLength(2);
    await engine.close();
    expect(await names()).toEqual(["tiny"]);
    expect(readdirSync(adapters)).toEqual([]);
  });

  it("keeps drawing from the version that it held, while the next one trains", async () => {
    const { server: policies } = await sampler(model);
    const engine = await open(policies.url);
    const held = await engine.samplingClient!();
    const before = await held.sample(plain);
    const row = { inputs: [3, 4], targets: [4, 5], fields: { weights: [1, 1] } };
    await engine.forwardBackward([row], { name: "cross-entropy", options: {} });
    await engine.optimStep(adam);
    expect(await engine.sample(plain)).not.toEqual(before);
    expect(await held.sample(plain)).toEqual(before);
    expect([held.policyVersion, engine.policyVersion]).toEqual([0, 1]);
    await engine.close();
  });

  it("of another base: refused before anything is trained, and nothing is left", async () => {
    const other = await writeTinyModel(join(folder, "other"), tinyConfig, 6);
    const { server: policies, get } = await sampler(other);
    await expect(open(policies.url)).rejects.toThrow(
      errorWith("ENGINE_UNFIT", /different models: .* differ by \d+\.\d+ nats per token/),
    );
    expect(readdirSync(adapters)).toEqual([]);
    expect((await get("/v1/models")).body).toMatchObject({ data: [{ id: "tiny" }] });
  });

  it("after the server lost the adapter: refused, nothing is drawn from the base", async () => {
    const { server: policies, get } = await sampler(model);
    const engine = await open(policies.url);
    await engine.sample(plain);
    const { data } = (await get("/v1/models")).body as unknown as { data: { id: string }[] };
    for (const { id } of data.slice(1)) {
      await fetch(`${policies.url}/v1/unload_lora_adapter`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ lora_name: id }),
      });
    }
    await expect(engine.sample(plain)).rejects.toThrow(/does not exist/);
    await engine.close();
  });
});

// A running vLLM (docs/remote-engines.md), the folder of its model, which must have heads of 64, and a rank of 4 allowed.
const vllm = process.env["VLLM_URL"] ?? "";
const vllmModel = process.env["VLLM_MODEL"] ?? "";

describe.skipIf(vllm === "" || vllmModel === "")(
  "vLLM as the sampler of serve engine (set VLLM_URL and VLLM_MODEL to run it)",
  () => {
    it("samples each version from its own adapter, and forgets all of them", { timeout: 600_000 }, async () => {
      const server = await serveModel(vllmModel, join(folder, "vllm"));
      onTestFinished(() => server.close());
      const sampler = { url: vllm, model: null, adapters, apiKeyEnv: null };
      const names = async (): Promise<string[]> => {
        const reply = await fetch(`${vllm}/v1/models`);
        return ((await reply.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
      };
      const before = await names();
      const engine = await openRemoteEngine(vllmModel, await trainingOnly(server.url), { sampler });
      const worst = await followsVersions(engine, names, 1e-3);
      expect(await names()).toHaveLength(before.length + 2);
      await engine.close();
      expect(await names()).toEqual(before);
      // For the lab log.
      process.stderr.write(`largest difference of a log-probability: ${worst.toExponential(1)}\n`);
    }); // prettier-ignore
  },
);

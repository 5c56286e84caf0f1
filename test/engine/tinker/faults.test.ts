import { mkdir } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { PolicyEngine, TrainingRow } from "../../../src/engine/engine.ts";
import type { DialectName } from "../../../src/engine/tinker/dialect.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { openRemoteEngine } from "../../helpers/served-engine.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { writeTinyModel } from "../../helpers/tiny-model.ts";

const folder = temporaryFolder();
const model = await writeTinyModel(join(folder, "model"));
const loss = { name: "cross-entropy", options: {} };
const rows: TrainingRow[] = [{ inputs: [3, 4], targets: [4, 5], fields: { weights: [1, 1] } }];

interface Reply {
  status: number;
  body?: object;
  /** Closes the connection in the middle. */
  isCut?: boolean;
}

/** A server whose training calls are answered by a script; every other call succeeds. The last reply stays. */
async function scripted(
  replies: Reply[],
  dialect: DialectName = "open-rl",
): Promise<{
  engine: PolicyEngine;
  seen: { path: string; seq: number }[];
  seeds: number[];
  paths: string[];
}> {
  const seen: { path: string; seq: number }[] = [];
  const paths: string[] = [];
  const seeds: number[] = [];
  const server = createServer((request, reply) => {
    const path = (request.url ?? "").replace("/api/v1/", "");
    paths.push(path);
    let text = "";
    request.on("data", (chunk) => (text += String(chunk)));
    request.on("end", () => {
      const body = (text.startsWith("{") ? JSON.parse(text) : {}) as Record<string, unknown>;
      const drawn = body["sampling_params"] as { seed: number } | undefined;
      if (drawn !== undefined) seeds.push(drawn.seed);
      const answer = (): Reply => {
        if (path !== "forward_backward") return { status: 200, body: usual(path, body, dialect) };
        seen.push({ path, seq: Number(body["seq_id"]) });
        return replies.length > 1 ? replies.shift()! : replies[0]!;
      };
      const { status, body: sent = {}, isCut } = answer();
      const json = JSON.stringify(sent);
      reply.writeHead(status, {
        "content-type": "application/json",
        "content-length": json.length,
      });
      if (isCut !== true) reply.end(json);
      else reply.write(json.slice(0, 1), () => reply.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const engine = await openRemoteEngine(model, `http://127.0.0.1:${port}`, {
    dialect,
    lora: { rank: 4, alpha: dialect === "tuft" ? 8 : 32, rslora: false, seed: 1, targets: LAYERS },
  });
  onTestFinished(async () => {
    await engine.close();
    server.closeAllConnections();
    server.close();
  });
  return { engine, seen, seeds, paths };
}

const LAYERS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];
const done: Reply = { status: 200, body: { request_id: "learned" } };

function usual(path: string, body: Record<string, unknown>, dialect: DialectName): object {
  if (path === "get_server_capabilities") return { supported_models: [{ model_name: "tiny" }] };
  if (path === "create_session") return { session_id: "s" };
  if (path !== "retrieve_future") return { request_id: path };
  if (body["request_id"] === "create_model") return { model_id: "m" };
  if (body["request_id"] === "save_weights") return { path: "tinker://m/weights/1" };
  if (body["request_id"] === "asample")
    return { sequences: [{ tokens: [1], logprobs: [-1], stop_reason: "length" }], type: "sample" };
  // The pass of 4 tokens that comes before the policy there.
  const logprobs = { data: dialect === "skyrl-jax" ? [-1, -2, -3, -4] : [-1, -2] };
  return { loss_fn_outputs: [{ logprobs }], metrics: {}, type: "forward_backward" };
}

describe("a server that fails", () => {
  it.each([
    [409, "reused", "ENGINE_REFUSED"],
    [415, "Expected protobuf", "ENGINE_REFUSED"],
    [404, "Model not found", "ENGINE_LOST"],
    [404, "Unknown model: 97e5276d", "ENGINE_LOST"],
  ] as const)(
    "status %s: a named error, and the number is used again",
    async (status, detail, code) => {
      const { engine, seen } = await scripted([{ status, body: { detail } }, done]);
      await expect(engine.forwardBackward(rows, loss)).rejects.toThrow(errorWith(code, detail));
      expect((await engine.forwardBackward(rows, loss)).loss).toBeCloseTo(3);
      expect(seen.map(({ seq }) => seq)).toEqual([1, 1]);
    },
  );

  it("too busy (429): sends the same call again", async () => {
    const { engine, seen } = await scripted([{ status: 429 }, done]);
    await engine.forwardBackward(rows, loss);
    expect(seen.map(({ seq }) => seq)).toEqual([1, 1]);
  });

  it.each([
    ["500", { status: 500 }, "HTTP_STATUS"],
    ["half a reply", { status: 200, isCut: true }, "HTTP_CUT"],
  ] as const)(
    "%s where a repeated call would be learned twice: sends it once",
    async (_, reply, code) => {
      const { engine, seen } = await scripted([reply, done]);
      await expect(engine.forwardBackward(rows, loss)).rejects.toThrow(errorWith(code));
      expect(seen).toHaveLength(1);
    },
  );

  it("sends no empty batch, and no row without a scored target", async () => {
    const { engine, seen } = await scripted([done]);
    const unscored = { ...rows[0]!, fields: { weights: [0, 0] } };
    const { logprobs } = await engine.forwardBackward([unscored], loss);
    expect([...logprobs[0]!]).toEqual([NaN, NaN]);
    expect(await engine.logprobs([])).toEqual([]);
    expect(seen).toEqual([]);
  });

  it.each([
    ["skyrl-jax", 2 ** 31 - 1],
    ["tinker", 2 ** 32 - 1],
  ] as const)("draws at %s with a seed that it takes", async (dialect, expected) => {
    const { engine, seeds } = await scripted([done], dialect);
    await engine.sample({
      promptIds: [5],
      maxTokens: 1,
      stopIds: [],
      stopStrings: [],
      seed: 2 ** 32 - 1,
      temperature: 1,
      topP: 1,
      topK: 0,
      sequence: null,
    });
    expect(seeds).toEqual([expected]);
  });

  it.each([
    ["tuft", 0],
    ["tinker", 1],
  ] as const)(
    "closed at %s after a save: unloads the model where its weights stay",
    async (dialect, times) => {
      const { engine, paths } = await scripted([done], dialect);
      const to = join(folder, `saved-${dialect}`);
      await mkdir(to);
      await engine.save(to);
      await engine.close();
      expect(paths.filter((path) => path === "unload_model")).toHaveLength(times);
    },
  );

  it("checks arrays before it sends them", async () => {
    const { engine, seen } = await scripted([done]);
    const short = { ...rows[0]!, fields: { weights: [1] } };
    await expect(engine.forwardBackward([short], loss)).rejects.toThrow(
      errorWith("LOSS_FIELD_MISSING", "1 values for 2 targets"),
    );
    expect(seen).toEqual([]);
  });
});

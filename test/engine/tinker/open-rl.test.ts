import { mkdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readJson } from "../../../src/base/files.ts";
import { type PolicyEngine, type TrainingRow, heldWeights } from "../../../src/engine/engine.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { openRemoteEngine, smallLora } from "../../helpers/served-engine.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { writeTinyModel } from "../../helpers/tiny-model.ts";

interface Exchange {
  path: string;
  request: Record<string, unknown> | null;
  status: number;
  reply: Record<string, unknown>;
}

/** Requests and replies of Open-RL (April 2026), recorded. */
const recorded = JSON.parse(
  await readFile(join(import.meta.dirname, "../../golden/open-rl.json"), "utf8"),
) as Record<string, Exchange>;

const folder = temporaryFolder();
const model = await writeTinyModel(join(folder, "model"));

/** The row of the recording. */
const row = (weights: number[]): TrainingRow => ({
  inputs: [1, 10, 20, 30, 40, 50],
  targets: [10, 20, 30, 40, 50, 2],
  fields: { weights },
});
const plain = { name: "cross-entropy", options: {} };

/** What each submission of a training call, and the future after it, is answered with. */
const answers: Record<string, [Exchange, Exchange]> = {
  create_model: [recorded["createModel"]!, recorded["created"]!],
  forward_backward: [recorded["crossEntropy"]!, recorded["learned"]!],
  optim_step: [recorded["step"]!, recorded["stepped"]!],
  save_weights_for_sampler: [recorded["saveForSampler"]!, recorded["savedForSampler"]!],
  asample: [recorded["asample"]!, recorded["sampled"]!],
  save_weights: [recorded["save"]!, recorded["saved"]!],
};

/** The recorded replies as a server. Every future is pending once. */
async function replayed(): Promise<{
  engine: PolicyEngine;
  sent: { path: string; body: Record<string, unknown> }[];
  refuse: () => void;
}> {
  const sent: { path: string; body: Record<string, unknown> }[] = [];
  const futures = new Map<string, { exchange: Exchange; isPending: boolean }>();
  let refused = false;
  const answerTo = (path: string, body: Record<string, unknown>): Exchange => {
    if (path === "get_server_capabilities") return recorded["capabilities"]!;
    if (path === "create_session") return recorded["session"]!;
    if (path === "retrieve_future") {
      const future = futures.get(String(body["request_id"]))!;
      if (!future.isPending) return future.exchange;
      future.isPending = false;
      return recorded["pending"]!;
    }
    const isRefused = refused && path === "forward_backward";
    const pair = isRefused ? [recorded["unsupported"]!, recorded["refused"]!] : answers[path];
    // It has no unload_model.
    if (pair === undefined)
      return { path, request: null, status: 404, reply: { detail: "Not Found" } };
    const [submission, exchange] = pair as [Exchange, Exchange];
    futures.set(String(submission.reply["request_id"]), { exchange, isPending: true });
    return submission;
  };
  const server = createServer((request, reply) => {
    const path = (request.url ?? "").replace("/api/v1/", "");
    let text = "";
    request.on("data", (chunk) => (text += String(chunk)));
    request.on("end", () => {
      const body = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
      sent.push({ path, body });
      const { status, reply: answer } = answerTo(path, body);
      reply.writeHead(status, { "content-type": "application/json" });
      reply.end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const engine = await openRemoteEngine(model, `http://127.0.0.1:${port}`, { lora: smallLora });
  onTestFinished(async () => {
    await engine.close();
    server.closeAllConnections();
    server.close();
  });
  return { engine, sent, refuse: () => (refused = true) };
}

describe("Open-RL, replayed", () => {
  it("is recognised, and asked for the recipe's alpha and no dropout", async () => {
    const { engine, sent } = await replayed();
    expect(engine.machine["dialect"]).toBe("open-rl");
    expect(engine.machine["alpha"]).toBeUndefined();
    const { lora_config } = sent.find(({ path }) => path === "create_model")!.body;
    expect(lora_config).toMatchObject({ rank: 4, lora_alpha: 32, lora_dropout: 0 });
    expect(sent.filter(({ path }) => path === "retrieve_future")).toHaveLength(2);
  });

  it("computes log-probabilities by cross_entropy with weights of 0", async () => {
    const { engine, sent } = await replayed();
    const [scored] = await engine.logprobs([row([0, 0, 1, 1, 1, 1])]);
    expect(scored![5]).toBeCloseTo(-5.716251, 6);
    expect(sent.at(-3)?.path).toBe("forward_backward");
    expect(sent.at(-3)?.body).toMatchObject({
      seq_id: 1,
      forward_backward_input: { loss_fn: "cross_entropy" },
    });
    expect(weightsOf(sent.at(-3)!.body)).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it("learns by the request that was recorded", async () => {
    const { engine, sent } = await replayed();
    const { loss } = await engine.forwardBackward([row([0, 0, 1, 1, 1, 1])], plain);
    const { body } = sent.find(({ path }) => path === "forward_backward")!;
    expect(body).toEqual(recorded["crossEntropy"]!.request);
    expect(loss).toBeCloseTo(22.984129, 5);
    const { gradNorm } = await engine.optimStep({
      learningRate: 0.01,
      beta1: 0.9,
      beta2: 0.95,
      epsilon: 1e-8,
      weightDecay: 0,
      gradClipNorm: 1,
    });
    expect(gradNorm).toBeCloseTo(19.566816, 5);
    const step = sent.find(({ path }) => path === "optim_step")!.body;
    expect(step["adam_params"]).toEqual(recorded["step"]!.request!["adam_params"]);
  });

  it("refuses in a future: a named error", async () => {
    const { engine, refuse } = await replayed();
    refuse();
    await expect(engine.forwardBackward([row([1, 1, 1, 1, 1, 1])], plain)).rejects.toThrow(
      errorWith("ENGINE_REFUSED", "Loss cispo not supported"),
    );
  });

  it("samples, says always stop, and is read as cut by the limit", async () => {
    const { engine, sent } = await replayed();
    const drawn = await engine.sample({
      promptIds: [1, 10, 20],
      maxTokens: 5,
      stopIds: [2],
      stopStrings: [],
      seed: 3,
      temperature: 1,
      topP: 1,
      topK: 0,
      sequence: null,
    });
    expect(drawn.ids).toEqual([115, 103, 3, 181, 286]);
    expect(drawn.logprobs[0]).toBeCloseTo(-5.788058, 6);
    expect(drawn.finish).toBe("length");
    const { sampling_session_id } = recorded["savedForSampler"]!.reply;
    expect(sent.find(({ path }) => path === "asample")?.body).toMatchObject({
      sampling_session_id,
    });
  });

  it("holds no weights for asynchronous rollouts: it samples with the newest", async () => {
    const { engine } = await replayed();
    expect(() => heldWeights(engine)).toThrow(errorWith("ENGINE_UNFIT", "open-rl"));
  });

  it("saves with the optimizer's state, which it leaves out unless asked", async () => {
    const { engine, sent } = await replayed();
    const to = join(folder, "saved");
    await mkdir(to, { recursive: true });
    await engine.save(to, { optimizer: true });
    expect(sent.find(({ path }) => path === "save_weights")?.body).toMatchObject({
      include_optimizer: true,
    });
    expect(await readJson(join(to, "remote-weights.json"))).toMatchObject({
      path: recorded["saved"]!.reply["path"],
    });
  });
});

function weightsOf(body: Record<string, unknown>): unknown {
  const { data } = body["forward_backward_input"] as {
    data: { loss_fn_inputs: Record<string, { data: unknown }> }[];
  };
  return data[0]?.loss_fn_inputs["weights"]?.data;
}

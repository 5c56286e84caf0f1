import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SampleRequest } from "../../../src/engine/engine.ts";
import { samplingServer } from "../../../src/engine/tinker/adapter-sampling.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { type LocalServer, localServer, sendJson } from "../../helpers/local-server.ts";
import { openRemoteEngine } from "../../helpers/served-engine.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { writeTinyModel } from "../../helpers/tiny-model.ts";

interface Exchange {
  request: Record<string, unknown> | null;
  status: number;
  body: unknown;
}

/** What vLLM 0.32.0 answered. */
const recorded = JSON.parse(
  readFileSync(new URL("../../golden/vllm-0.32.0.json", import.meta.url), "utf8"),
) as Record<"models" | "load" | "completion" | "stopped", Exchange>;

const folder = temporaryFolder();
const adapters = join(folder, "adapters");
const request: SampleRequest = {
  promptIds: [1, 10, 20],
  maxTokens: 3,
  stopIds: [2],
  stopStrings: [],
  seed: 3,
  temperature: 0.5,
  topP: 1,
  topK: 0,
  sequence: null,
};

/** vLLM as recorded, where a reply is not replaced. */
function vllm(
  replies: Partial<
    Record<"models" | "load" | "completion", { status?: number; body: unknown }>
  > = {},
): Promise<LocalServer> {
  return localServer(({ url }, response) => {
    const key = url === "/v1/models" ? "models" : url === "/v1/completions" ? "completion" : "load";
    const { body, status = 200 } = replies[key] ?? recorded[key];
    if (typeof body === "string") response.writeHead(status).end(body);
    else sendJson(response, body, status);
  });
}

async function asked(replies: Parameters<typeof vllm>[0] = {}, model: string | null = null) {
  const server = await vllm(replies);
  const sampler = { url: server.url, model, adapters, apiKeyEnv: null };
  const http = { retries: 0, retryDelayMs: 1 };
  return { server, client: await samplingServer(sampler, { stallMs: 5000, http }) };
}

/** The recorded reply with another first choice, or other fields. */
function completion(choice: object, fields: object = {}): { body: unknown } {
  const body = recorded.completion.body as { choices: object[] };
  return { body: { ...body, ...fields, choices: [{ ...body.choices[0], ...choice }] } };
}

describe("a sampling server, by recorded replies of vLLM", () => {
  it("loads an adapter, draws ids with log-probabilities, and sends all that a server's defaults could change", async () => {
    const { server, client } = await asked();
    await client.load("n1", "/models/lora64");
    expect(await client.complete("n1", request)).toEqual({
      tokens: [28, 163, 41],
      stopReason: "length",
      logprobs: [-6.039100646972656, -5.744521141052246, -5.253135681152344],
    });
    const [, loaded, drawn] = server.received.map(({ body }) => body);
    expect(JSON.parse(loaded!)).toEqual(recorded.load.request);
    expect(JSON.parse(drawn!)).toEqual({
      ...recorded.completion.request,
      top_p: 1,
      top_k: -1,
      min_p: 0,
      repetition_penalty: 1,
      n: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      stop_token_ids: [2],
      include_stop_str_in_output: true,
    });
  });

  it("reads a completion that a stop string ended", async () => {
    const { client } = await asked({ completion: { body: recorded.stopped.body } });
    const { tokens, logprobs, stopReason } = await client.complete("n1", request);
    expect([tokens.length, logprobs.length, stopReason]).toEqual([25, 25, "stop"]);
  });

  it("takes a repeated load, whose first reply was lost, as done", async () => {
    const message = "The lora adapter 'n1' has already been loaded. If you want to load the adapter in place, set 'load_inplace' to True."; // prettier-ignore
    const { client } = await asked({ load: { status: 400, body: { error: { message } } } });
    await client.load("n1", "/models/lora64");
  });

  it.each([
    ["without LoRA", { status: 404, body: { detail: "Not Found" } }, /--enable-lora/],
    [
      "with a smaller rank",
      {
        status: 400,
        body: { error: { message: "LoRA rank 16 is greater than max_lora_rank 8." } },
      },
      /max_lora_rank 8.*--max-lora-rank/,
    ],
  ] as const)("%s: refused", async (_, load, said) => {
    const { client } = await asked({ load });
    await expect(client.load("n1", "/a")).rejects.toThrow(errorWith("ENGINE_UNFIT", said));
  });

  it.each([
    ["of the base", completion({}, { model: "tiny-qwen3" }), /asked for n1, the reply is of "tiny/],
    ["of other tokens", completion({ prompt_token_ids: [0, 1, 10, 20] }), /other tokens .*4 and 3/],
    ["without token ids", completion({ token_ids: null }), /no token ids/],
    ["without log-probabilities", completion({ logprobs: null }), /3 tokens and no log-/],
    [
      "with too few log-probabilities",
      completion({ logprobs: { token_logprobs: [-1] } }),
      /3 tokens and 1 log-/,
    ],
  ] as const)("a reply %s is refused", async (_, reply, said) => {
    const { client } = await asked({ completion: reply });
    await expect(client.complete("n1", request)).rejects.toThrow(errorWith("HTTP_BAD_REPLY", said));
  });

  it("without the base that is named, or with several and none named: refused", async () => {
    await expect(asked({}, "other")).rejects.toThrow(
      errorWith("ENGINE_UNFIT", /"other".*tiny-qwen3/),
    );
    const data = [{ id: "a", parent: null }, { id: "b" }, { id: "x", parent: "a" }];
    const models = { body: { data } };
    await expect(asked({ models })).rejects.toThrow(
      errorWith("ENGINE_UNFIT", /2 base models.*a, b/),
    );
    await asked({ models }, "b");
  });

  it("without engine.sampler, a server that says that it only trains is refused", async () => {
    const only = await localServer(({ url }, response) => {
      const models = [{ model_name: "tiny", capabilities: ["training"] }];
      sendJson(
        response,
        url.endsWith("get_server_capabilities") ? { supported_models: models } : {},
      );
    });
    const model = await writeTinyModel(join(folder, "model"));
    await expect(openRemoteEngine(model, only.url)).rejects.toThrow(
      errorWith("ENGINE_UNFIT", /does not sample. Set engine.sampler/),
    );
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "../../../src/base/schema.ts";
import { samplingServer } from "../../../src/engine/tinker/adapter-sampling.ts";
import { connect } from "../../../src/engine/tinker/connection.ts";
import { localServer, sendJson } from "../../helpers/local-server.ts";

/** With characters that JSON writes otherwise. */
const KEY = 'tml-Canary+/"9f3b\\71c2=';
const PARTS = Array.from({ length: KEY.length - 5 }, (_, i) => KEY.slice(i, i + 6));

beforeEach(() => {
  vi.stubEnv("SERVER_KEY", KEY);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

/** Quotes the key in everything that it answers, at some place of the text. */
const echo = { status: 401, before: 0, inResult: false, layers: 0 };
const server = await localServer(({ headers, url }, response) => {
  const key = headers["x-api-key"] ?? headers.authorization ?? "";
  // As a text, as JSON in a text, and as JSON in it.
  let said = `${"x".repeat(echo.before)} you sent ${String(key)} and more`;
  for (let layer = 0; layer < echo.layers; layer++) said = JSON.stringify({ said });
  if (echo.inResult && url.endsWith("/models")) sendJson(response, { data: [{ id: "m" }] });
  else if (echo.inResult && url.endsWith("/completions"))
    sendJson(response, { model: said, choices: [{ token_ids: [1], prompt_token_ids: [1] }] });
  else if (echo.inResult) sendJson(response, { request_id: { said } });
  else sendJson(response, { detail: said, error: { message: said } }, echo.status);
});

async function message(work: () => Promise<unknown>): Promise<string> {
  const error: unknown = await work().catch((caught: unknown) => caught);
  if (!(error instanceof Error)) throw new Error("it did not fail");
  return `${error.message} ${String(error.stack)} ${JSON.stringify(error.cause ?? null)}`;
}

const http = { retries: 0, retryDelayMs: 1 };
const connection = () => connect({ url: server.url, apiKeyEnv: "SERVER_KEY", stallMs: 5000, http });
const sampler = () =>
  samplingServer(
    { url: server.url, model: null, adapters: "/a", apiKeyEnv: "SERVER_KEY" },
    { stallMs: 5000, http },
  );
const drawn = async () =>
  (await sampler()).complete("n1", {
    promptIds: [1],
    maxTokens: 1,
    stopIds: [],
    stopStrings: [],
    seed: 1,
    sequence: null,
    temperature: 1,
    topP: 1,
    topK: 0,
  });
const schema = z.object({ request_id: z.string() });

describe("a server that quotes the key", () => {
  it.each([
    ["the training server", () => connection().call("create_session", schema, { body: {} })],
    ["its futures", () => connection().future("1")],
    ["the sampling server", sampler],
  ] as const)("%s: no part of it is in the error, wherever it is cut", async (_, work) => {
    for (const status of [400, 401, 404, 500]) {
      for (let before = 0; before < 440; before += status === 401 ? 7 : 73) {
        Object.assign(echo, { status, before, inResult: false, layers: before % 3 });
        const said = await message(work);
        expect(
          PARTS.filter((part) => said.includes(part)),
          `${status}, ${before}: ${said}`,
        ).toEqual([]);
      }
    }
    expect(JSON.stringify(server.received.at(-1)?.headers)).toContain("Canary");
  });

  it.each([
    ["the training server", () => connection().call("create_session", schema, { body: {} })],
    ["the sampling server", drawn],
  ] as const)("%s, in a reply of another shape: no part of it is in the error", async (_, work) => {
    Object.assign(echo, { before: 0, inResult: true });
    const said = await message(work);
    expect(PARTS.filter((part) => said.includes(part))).toEqual([]);
  });
});

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { parseOptions } from "../../src/base/schema.ts";
import type { Engine, SampleRequest } from "../../src/engine/engine.ts";

import { modelsSchema, endpointSchema } from "../../src/rollout/model-settings.ts";
import { encoderRole, endpointRole, engineRole, lazyRoles } from "../../src/rollout/roles.ts";
import { type AskedChat, chatServer } from "../helpers/chat-server.ts";
import { errorWith } from "../helpers/error-with.ts";
import { tokenizer } from "../helpers/search-world.ts";

const { signal } = new AbortController();

/** An engine that writes one text and knows log-probabilities by the role that they are asked of. */
function fakeEngine(text: string): Engine & { asked: SampleRequest[] } {
  const asked: SampleRequest[] = [];
  const sample = (request: SampleRequest) => {
    asked.push(request);
    const ids = [...tokenizer.encode(text), tokenizer.endId ?? 0];
    return Promise.resolve({ ids, logprobs: ids.map(() => 0), finish: "eos" as const });
  };
  const logprobs: Engine["logprobs"] = (rows, role = "policy") =>
    Promise.resolve(rows.map(({ targets }) => new Float32Array(targets.map((_, i) => i + role.length)))); // prettier-ignore
  const capabilities = { maxPositions: 20, losses: [] };
  return { asked, capabilities, policyVersion: 0, sample, logprobs } as unknown as ReturnType<typeof fakeEngine>; // prettier-ignore
}

describe("engineRole", () => {
  it("writes up to the first stop text, greedily unless it is told otherwise", async () => {
    const engine = fakeEngine(" Oslo is the capital");
    const role = engineRole("reader", { engine, tokenizer });
    const request = { maxTokens: 7, stop: [" the"], signal };
    expect(await role.complete("Q", request)).toBe(" Oslo is");
    expect(engine.asked[0]).toMatchObject({ maxTokens: 7, temperature: 0, sequence: null });
  });

  it("scores text after a prompt, under kept weights too, and nothing that does not fit", async () => {
    const engine = fakeEngine("");
    const before = tokenizer.encodeStart("Q").length;
    // The targets of the text begin at the prompt's last token.
    const now = [before - 1, before].map((i) => i + "policy".length);
    const text = " Oslo is";
    expect(await engineRole("reader", { engine, tokenizer }).logprobs("Q", text, signal)).toEqual(now); // prettier-ignore
    const kept = engineRole("previous", { engine, tokenizer, kept: "models.previous" });
    const then = now.map((each) => each - "policy".length + "models.previous".length);
    expect(await kept.logprobs("Q", text, signal)).toEqual(then);
    expect(await kept.logprobs("Q", text.repeat(20), signal)).toBeNull();
    expect(await kept.logprobs("Q", "", signal)).toEqual([]);
    await expect(kept.complete("Q", { maxTokens: 1, signal })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", /models\.previous is a snapshot/),
    );
  });
});

describe("tokens of the policy", () => {
  const asked = (...ids: number[]) => ({ ids, isAsked: ids.map((_, i) => i > 1) });

  it("are scored in their sequences, those that fit", async () => {
    const role = engineRole("teacher", { engine: fakeEngine(""), tokenizer });
    const long = asked(...Array.from({ length: 21 }, (_, i) => i));
    const found = await role.tokenLogprobs?.(
      [asked(1, 2, 3), long, asked(4, 5)],
      tokenizer,
      signal,
    );
    expect(found).toEqual([[NaN, 6, 7], null, [NaN, 6]]);
  });

  it("need a model of the same vocabulary", async () => {
    const role = engineRole("teacher", { engine: fakeEngine(""), tokenizer });
    const bytes = (id: number) => (id === 9 ? Buffer.from("other") : tokenizer.bytes(id));
    const other = { vocabSize: tokenizer.vocabSize, bytes };
    const scored = role.tokenLogprobs?.([asked(1, 2, 3)], other, signal);
    await expect(scored).rejects.toThrow(
      errorWith("VOCABULARIES_DIFFER", /models\.teacher: token 9 is .* and "other" for the policy/),
    );
    const short = { vocabSize: tokenizer.vocabSize - 1, bytes };
    await expect(role.tokenLogprobs?.([], short, signal)).rejects.toMatchObject({
      code: "VOCABULARIES_DIFFER",
    });
  });
});

describe("endpointRole", () => {
  const settings = (baseUrl: string, api: "chat" | "completions") =>
    endpointSchema.parse({ baseUrl, model: "m", apiKeyEnv: null, api, retries: 0 });

  it("asks a chat or a completions server, and cannot tell the likelihood of a text", async () => {
    const bodies: AskedChat[] = [];
    const { url } = await chatServer((asked) => {
      bodies.push(asked);
      return "yes. no";
    });
    for (const api of ["chat", "completions"] as const) {
      const role = endpointRole("judge", settings(url, api));
      expect(await role.complete("Is it right?", { maxTokens: 5, stop: ["."], signal })).toBe(
        "yes",
      );
      expect(await role.logprobs("a", "b", signal)).toBeNull();
    }
    expect(bodies[0]).toMatchObject({ messages: [{ role: "user", content: "Is it right?" }] });
    expect(bodies[1]).toMatchObject({ prompt: "Is it right?", max_tokens: 5, temperature: 0 });
  });

  it("fails as a rollout does, so that the run continues", async () => {
    const { url } = await chatServer((_, response) => {
      response.writeHead(400).end("{}");
      return null;
    });
    const role = endpointRole("judge", settings(url, "chat"));
    await expect(role.complete("Q", { maxTokens: 5, signal })).rejects.toMatchObject({
      name: "RolloutError",
      code: "HTTP_STATUS",
      message: expect.stringContaining("models.judge") as string,
    });
  });
});

describe("lazyRoles", () => {
  it("opens a role once, when it is first asked, and closes what it opened", async () => {
    const log: string[] = [];
    const open = (name: string) => () => {
      log.push(`open ${name}`);
      const role = { name, complete: () => Promise.resolve(name), logprobs: () => Promise.resolve(null) }; // prettier-ignore
      const close = () => Promise.resolve(void log.push(`close ${name}`));
      return Promise.resolve({ role, close });
    };
    const roles = lazyRoles({ reader: open("reader"), judge: open("judge") });
    const reader = roles.get("reader", "here");
    expect(log).toEqual([]);
    const request = { maxTokens: 1, signal };
    await Promise.all([reader.complete("a", request), reader.complete("b", request)]);
    await roles.close();
    expect(log).toEqual(["open reader", "close reader"]);
    expect(() => roles.get("raeder", "rewards[0].role")).toThrow(
      errorWith("PART_UNKNOWN", /rewards\[0\]\.role is "raeder".*"reader"/),
    );
  });
});

describe("embed", () => {
  it("asks an endpoint's /embeddings, and an encoder", async () => {
    const server = createServer((request, response) => {
      request.resume().on("end", () => {
        const data = [
          { index: 1, embedding: [0, 1] },
          { index: 0, embedding: [1, 0] },
        ];
        response.end(JSON.stringify(request.url === "/v1/embeddings" ? { data } : {}));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const given = { baseUrl: `http://127.0.0.1:${port}/v1`, model: "m", apiKeyEnv: null };
    const remote = endpointRole("encoder", endpointSchema.parse({ ...given, retries: 0 }));
    const expected = [Float32Array.of(1, 0), Float32Array.of(0, 1)];
    expect(await remote.embed?.(["a", "b"], signal)).toEqual(expected);
    const encodePassages = () => Promise.resolve(Float32Array.of(1, 0, 0, 1));
    const local = encoderRole("encoder", { encodePassages, dimensions: 2 });
    expect(await local.embed?.(["a", "b"], signal)).toEqual(expected);
    await expect(local.complete("Q", { maxTokens: 1, signal })).rejects.toMatchObject({
      code: "ROLE_CANNOT",
    });
  });

  it("is refused for a language model, with what can do it", async () => {
    const role = engineRole("reader", { engine: fakeEngine(""), tokenizer });
    const opened = () => Promise.resolve({ role, close: () => Promise.resolve() });
    const embedded = lazyRoles({ reader: opened }).get("reader", "here").embed?.(["a"], signal);
    await expect(embedded).rejects.toThrow(
      errorWith("ROLE_CANNOT", /models\.reader: this model cannot embed texts.*endpoint.*encoder/),
    );
  });
});

describe("models of a recipe", () => {
  it("are a folder, an endpoint or a snapshot", () => {
    const given = {
      reader: { from: "base" },
      judge: { endpoint: { baseUrl: "http://127.0.0.1:1/v1", model: "m" } },
      previous: { policy: "snapshot", every: 10 },
    };
    const models = parseOptions(modelsSchema, given, "models");
    expect(models["reader"]).toEqual({ from: "base" });
    expect(models["judge"]).toMatchObject({ endpoint: { api: "chat", model: "m" } });
    expect(models["previous"]).toEqual({ policy: "snapshot", every: 10 });
  });

  it.each([
    [{ policy: { from: "base" } }, "RECIPE_BAD_VALUE"],
    [{ "a b": { from: "base" } }, "RECIPE_BAD_VALUE"],
    [{ reader: { form: "base" } }, "RECIPE_UNKNOWN_KEY"],
    [{ previous: { policy: "snapshot" } }, "RECIPE_BAD_VALUE"],
  ])("refuses %j", (given, code) => {
    expect(() => parseOptions(modelsSchema, given, "models")).toThrow(
      expect.objectContaining({ code }) as Error,
    );
  });
});

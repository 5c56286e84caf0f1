import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { webSearch } from "../../../src/retrieval/remote/web-search.ts";
import type { Retriever } from "../../../src/retrieval/retriever.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { localServer, sendJson } from "../../helpers/local-server.ts";

interface Asked {
  url: URL;
  body: Record<string, unknown>;
}

/** One reply per engine and page, by the shapes of the engines' documentation; nobody here has a key to record real ones. */
let answer: (asked: Asked) => unknown;
const server = await localServer(({ url, body }, response) => {
  const parsed = body === "" ? {} : (JSON.parse(body) as Record<string, unknown>);
  sendJson(response, answer({ url: new URL(url, "http://host"), body: parsed }));
});
const KEY = "k3y/+secret";

function open(given: object): Promise<Retriever> {
  const context = { open: () => Promise.reject(new Error("nothing inside")) };
  const defaults = {
    endpoint: `${server.url}/search`,
    apiKeyEnv: "AGENTRL_TEST_WEB_KEY",
    retries: 0,
  };
  return webSearch.open({ ...defaults, ...given }, context);
}
/** Results numbered from `from`. */
const numbered = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({
    title: `Title ${from + i}`,
    link: `https://site${from + i}.example/page`,
    snippet: `Snippet ${from + i}`,
  }));

beforeAll(() => {
  process.env["AGENTRL_TEST_WEB_KEY"] = KEY;
});
beforeEach(() => {
  server.received.length = 0;
});

describe("web-search", () => {
  it("asks Google by pages of ten", async () => {
    answer = ({ url }) => {
      const start = Number(url.searchParams.get("start"));
      const count = Number(url.searchParams.get("num"));
      return { kind: "customsearch#search", items: numbered(start, count) };
    };
    const given = { engine: "google", engineId: "cx1", country: "DE", language: "de" };
    const [hits] = await (await open(given)).search([" who? "], 12);
    expect(hits).toHaveLength(12);
    expect(hits![11]).toEqual({
      id: "https://site12.example/page",
      title: "Title 12",
      text: "Snippet 12",
      score: 1 / 12,
    });
    const key = encodeURIComponent(KEY);
    expect(server.received.map(({ url }) => url)).toEqual([
      `/search?key=${key}&cx=cx1&q=who%3F&num=10&start=1&gl=de&lr=lang_de`,
      `/search?key=${key}&cx=cx1&q=who%3F&num=2&start=11&gl=de&lr=lang_de`,
    ]);
  });

  it("asks Brave by pages of twenty, its key in a header", async () => {
    answer = ({ url }) => {
      const from = Number(url.searchParams.get("offset")) * 20 + 1;
      const results = numbered(from, Number(url.searchParams.get("count"))).map(
        ({ title, link, snippet }) => ({ title, url: link, description: snippet }),
      );
      return { type: "search", query: { original: "q" }, web: { type: "search", results } };
    };
    const retriever = await open({ engine: "brave", country: "us", language: "en" });
    const [hits] = await retriever.search(["q"], 25);
    expect(hits!.map(({ title }) => title)).toEqual(numbered(1, 25).map(({ title }) => title));
    const rest = "text_decorations=false&result_filter=web&country=US&search_lang=en";
    expect(server.received.map(({ url }) => url)).toEqual([
      `/search?q=q&count=20&offset=0&${rest}`,
      `/search?q=q&count=20&offset=1&${rest}`,
    ]);
    expect(server.received[0]?.headers["x-subscription-token"]).toBe(KEY);
  });

  it("asks Serper by numbered pages, and stops at the last", async () => {
    answer = ({ body }) => ({ organic: body["page"] === 1 ? numbered(1, 10) : numbered(11, 3) });
    const [hits] = await (await open({ engine: "serper", country: "no" })).search(["q"], 40);
    expect(hits).toHaveLength(13);
    expect(server.received.map(({ body }) => body)).toEqual([
      '{"q":"q","page":1,"num":10,"gl":"no"}',
      '{"q":"q","page":2,"num":10,"gl":"no"}',
    ]);
    expect(server.received[0]?.headers["x-api-key"]).toBe(KEY);
  });

  it("finds nothing where the engine says so, and does not ask an empty query", async () => {
    const nothing = {
      google: { kind: "customsearch#search" },
      brave: { type: "search" },
      serper: { organic: [] },
    };
    for (const [engine, reply] of Object.entries(nothing)) {
      answer = () => reply;
      const retriever = await open({ engine, engineId: engine === "google" ? "cx" : undefined });
      expect(await retriever.search(["q", " "], 3)).toEqual([[], []]);
    }
    expect(server.received).toHaveLength(3);
  });

  it("keeps to a site and drops blocked domains and those below them", async () => {
    answer = () => ({
      organic: [
        "https://a.hugging.example/x",
        "https://hugging.example/y",
        "https://ok.example/z",
      ].map((link) => ({ title: "t", link })),
    });
    const given = { engine: "serper", site: "example.org", blocked: ["hugging.example"] };
    const [hits] = await (await open(given)).search(["q"], 3);
    expect(hits).toEqual([{ id: "https://ok.example/z", title: "t", text: "", score: 1 / 3 }]);
    expect(server.received[0]?.body).toContain('"q":"q site:example.org"');
  });

  it("names a page of another engine", async () => {
    answer = () => ({ greeting: "hello" });
    for (const engine of ["brave", "serper"]) {
      await expect((await open({ engine })).search(["q"], 3)).rejects.toThrow(
        errorWith("HTTP_BAD_REPLY", /\$\.(type|organic)/),
      );
    }
  });

  it("needs a key, and Google an engine of the user's", async () => {
    await expect(open({ engine: "brave", apiKeyEnv: "AGENTRL_TEST_NO_KEY" })).rejects.toThrow(
      errorWith("HTTP_KEY_MISSING", "AGENTRL_TEST_NO_KEY"),
    );
    await expect(open({ engine: "google" })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", "google requires the id"),
    );
  });

  it("shows its key neither in a failure nor in the fingerprint", async () => {
    const failing = await localServer(({ url }, response) => {
      response.writeHead(403).end(`key ${KEY} refused for ${url}`);
    });
    const google = { engine: "google", engineId: "cx", endpoint: failing.url };
    const message = await (await open(google)).search(["q"], 3).then(
      () => "",
      (error: unknown) => (error as Error).message,
    );
    expect(message).toContain("variable AGENTRL_TEST_WEB_KEY");
    expect(message).not.toMatch(/k3y|secret/);
    const before = (await open({ engine: "brave" })).fingerprint;
    process.env["AGENTRL_TEST_OTHER_KEY"] = "other";
    const other = { engine: "brave", apiKeyEnv: "AGENTRL_TEST_OTHER_KEY" };
    expect((await open(other)).fingerprint).toBe(before);
    expect((await open({ engine: "brave", country: "us" })).fingerprint).not.toBe(before);
  });
});

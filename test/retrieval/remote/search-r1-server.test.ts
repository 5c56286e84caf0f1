import { beforeEach, describe, expect, it } from "vitest";
import { searchR1Server } from "../../../src/retrieval/remote/search-r1-server.ts";
import type { Retriever } from "../../../src/retrieval/retriever.ts";
import { retrieverContract } from "../../contracts/retriever.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { localServer, sendJson } from "../../helpers/local-server.ts";

/** What /retrieve answers next for each query, and the fingerprint that goes with it. Made by hand from Search-R1's server. */
let result: (query: string) => unknown[];
let fingerprint: string | undefined;
const server = await localServer(({ url, body }, response) => {
  if (fingerprint !== undefined) response.setHeader("x-index-fingerprint", fingerprint);
  if (url !== "/retrieve") {
    sendJson(response, { detail: "Not Found" }, 404); // FastAPI's words: the reference server has no /health
    return;
  }
  const { queries } = JSON.parse(body) as { queries: string[] };
  sendJson(response, { result: queries.map((query) => result(query)) });
});

function open(given: object = {}): Promise<Retriever> {
  const context = { open: () => Promise.reject(new Error("nothing inside")) };
  return searchR1Server.open({ url: server.url, retries: 0, ...given }, context);
}
const hitsOf = async (items: unknown[]) => {
  result = () => items;
  return (await (await open()).search(["q"], 5))[0];
};

beforeEach(() => {
  server.received.length = 0;
  fingerprint = undefined;
  result = () => [];
});

describe("search-r1-server, over a server that has what the reference server has", () => {
  beforeEach(() => {
    const contents = ['"Oslo"\nThe capital of Norway.', '"Bergen"\nMuch rain.'];
    result = (query) =>
      query === ""
        ? []
        : contents.map((each, i) => ({
            document: { id: String(i), contents: each },
            score: 2 - i,
          }));
  });
  retrieverContract("search-r1-server", () => open());
});

describe("search-r1-server", () => {
  it("asks for scores, in batches, and takes the title from the first line's double quotes", async () => {
    result = (query) => [
      {
        document: { id: "7", contents: `"A "quoted" title"\n${query}: line 1\nline 2` },
        score: 1.5,
      },
    ];
    const retriever = await open({ url: `${server.url}/retrieve/`, batchSize: 2 });
    expect(await retriever.search(["a", "b", "c"], 4)).toEqual(
      ["a", "b", "c"].map((query) => [
        { id: "7", title: 'A "quoted" title', text: `${query}: line 1\nline 2`, score: 1.5 },
      ]),
    );
    expect(server.received.map(({ method, url, body }) => [method, url, body]).sort()).toEqual([
      ["GET", "/health", ""],
      ["POST", "/retrieve", '{"queries":["a","b"],"topk":4,"return_scores":true}'],
      ["POST", "/retrieve", '{"queries":["c"],"topk":4,"return_scores":true}'],
    ]);
  });

  it("takes bare documents, documents without an id and passages without a title", async () => {
    const bare = [{ contents: '"Oslo"\nA city.' }, { id: 3, contents: "No title,\ntwo lines." }];
    expect(await hitsOf(bare)).toEqual([
      { id: "sha256-0d769c295339efd0", title: "Oslo", text: "A city.", score: 1 },
      { id: "3", title: "", text: "No title,\ntwo lines.", score: 0.5 },
    ]);
  });

  it("believes title and text where the server sends them beside the contents", async () => {
    const document = { id: "1", contents: '"x y"\nz', title: "x\ny", text: "z" };
    const [hit] = (await hitsOf([{ document, score: 1 }]))!;
    expect(hit).toEqual({ id: "1", title: "x\ny", text: "z", score: 1 });
  });

  it("puts a server's hits in order, each once, at most k", async () => {
    const items = [1, 3, 2, 3].map((n) => ({ document: { id: `${n}`, contents: "" }, score: n }));
    result = () => items;
    const [hits] = await (await open()).search(["q"], 2);
    expect(hits!.map(({ id }) => id)).toEqual(["3", "2"]);
  });

  it("has the server's fingerprint, or one of its own for a server without", async () => {
    const own = (await open()).fingerprint;
    expect(own).toMatch(/^search-r1-server-[0-9a-f]{16}$/);
    expect((await open({ concurrency: 7, url: `${server.url}/retrieve` })).fingerprint).toBe(own);
    fingerprint = "bm25-1";
    expect((await open()).fingerprint).toBe("bm25-1");
  });

  it("stops when the server's index changes under the run", async () => {
    fingerprint = "bm25-1";
    const retriever = await open();
    await retriever.search(["q"], 1);
    fingerprint = "bm25-2";
    await expect(retriever.search(["q"], 1)).rejects.toThrow(
      errorWith("SERVER_INDEX_CHANGED", "was bm25-1 at the start of the run and is now bm25-2"),
    );
  });

  it("sends its token, and refuses a reply for another number of queries", async () => {
    process.env["AGENTRL_TEST_TOKEN"] = "t0ken";
    const retriever = await open({ apiKeyEnv: "AGENTRL_TEST_TOKEN" });
    await retriever.search(["q"], 1);
    expect(server.received.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer t0ken",
      "Bearer t0ken",
    ]);
    const other = await localServer((_request, response) => {
      sendJson(response, { result: [[]] });
    });
    const wrong = await open({ url: other.url });
    await expect(wrong.search(["a", "b"], 1)).rejects.toThrow(
      errorWith("HTTP_BAD_REPLY", "$.result"),
    );
  });

  it("does not open over a server that is not there", async () => {
    const gone = await localServer(() => undefined);
    await gone.close();
    await expect(open({ url: gone.url })).rejects.toThrow(errorWith("HTTP_UNREACHABLE"));
  });
});

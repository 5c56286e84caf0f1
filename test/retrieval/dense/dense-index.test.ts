import { existsSync } from "node:fs";
import { cp, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import {
  buildDenseIndex,
  type BuildDenseOptions,
} from "../../../src/retrieval/dense/build-dense-index.ts";
import { type Encoder, openEncoder } from "../../../src/retrieval/dense/encoder.ts";
import { openDenseIndex } from "../../../src/retrieval/dense/open-dense-index.ts";
import { openIndexFolder } from "../../../src/retrieval/open-index-folder.ts";
import { retrieverContract } from "../../contracts/retriever.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { runNode } from "../../helpers/run-node.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { writeTinyEncoder } from "../../helpers/tiny-encoder.ts";

const folder = temporaryFolder();
const words = Array.from({ length: 60 }, (_, i) => `word${i}`);
const draw = random("dense index");
const passages = Array.from({ length: 700 }, (_, i) => ({
  id: `p${i}`,
  title: words[draw.int(60)]!,
  text: Array.from({ length: 3 + draw.int(6) }, () => words[draw.int(60)]).join(" "),
}));
let encoder: Encoder;

beforeAll(async () => {
  encoder = await openEncoder(await writeTinyEncoder(join(folder, "model"), words));
  await build("flat", {});
  await build("graph", { graph: "hnsw" });
});

function build(name: string, options: Partial<BuildDenseOptions>, corpus = passages) {
  return buildDenseIndex(corpus, join(folder, name), { encoder, ...options });
}

for (const name of ["flat", "graph"]) {
  retrieverContract(`dense, ${name}`, () => openDenseIndex(join(folder, name)));
}

async function idsFor(name: string, queries: string[], options = {}): Promise<string[][]> {
  const retriever = await openDenseIndex(join(folder, name), options);
  const hits = await retriever.search(queries, 10);
  await retriever.close();
  return hits.map((each) => each.map(({ id }) => id));
}

describe("a dense index", () => {
  it("finds each passage by its own text, with a cosine of 1", async () => {
    const retriever = await openIndexFolder(join(folder, "flat"));
    const sample = [0, 123, 699].map((i) => passages[i]!);
    const found = await retriever.search(
      sample.map(({ title, text }) => `${title} ${text}`),
      1,
    );
    await retriever.close();
    for (const [i, passage] of sample.entries()) {
      expect(found[i]![0]).toMatchObject(passage);
      expect(found[i]![0]!.score).toBeCloseTo(1, 5);
    }
  });

  it("gives by its graph what exact search gives", async () => {
    const queries = passages.slice(0, 50).map(({ text }) => text);
    expect(await idsFor("graph", queries)).toEqual(await idsFor("graph", queries, { exact: true }));
  });

  it("keeps nearly the same ranking in half and a quarter of the bytes", async () => {
    const queries = passages.slice(0, 40).map(({ text }) => text);
    const exact = await idsFor("flat", queries);
    for (const vectors of ["f16", "int8"] as const) {
      const manifest = await build(vectors, { vectors });
      expect(manifest.vectors.file.bytes).toBe(700 * (vectors === "f16" ? 32 : 20));
      const found = await idsFor(vectors, queries);
      const same = found.flatMap((ids, q) => ids.filter((id) => exact[q]!.includes(id)));
      expect(same.length / 400).toBeGreaterThan(vectors === "f16" ? 0.99 : 0.95);
    }
  });

  it("reads vectors from the file where memory is short, with the same hits", async () => {
    const queries = [passages[5]!.text];
    expect(await idsFor("flat", queries, { maxMemory: 1000 })).toEqual(
      await idsFor("flat", queries),
    );
    await expect(openDenseIndex(join(folder, "graph"), { maxMemory: 1000 })).rejects.toThrow(
      errorWith("INDEX_TOO_LARGE", "its graph needs "),
    );
  });

  it("is the same folder, byte for byte, whenever it is built of the same passages", async () => {
    const first = await build("first", { graph: "hnsw" });
    expect(await build("second", { graph: "hnsw" })).toEqual(first);
  });

  it("has a fingerprint of corpus, encoder, storage and search", async () => {
    const fingerprints = new Set<string>();
    for (const [name, options] of [
      ["flat", {}],
      ["int8", {}],
      ["graph", {}],
      ["graph", { efSearch: 7 }],
    ] as const) {
      const retriever = await openDenseIndex(join(folder, name), options);
      fingerprints.add(retriever.fingerprint);
      await retriever.close();
    }
    expect(fingerprints.size).toBe(4);
  });

  it("searches a graph where hnswlib-node was not built, and says what building one needs", async () => {
    const printed = await withoutHnswlib("");
    expect(printed).toEqual(["HNSW_MISSING", GRAPH, GRAPH]);
    expect(existsSync(join(folder, "none"))).toBe(false);
  });

  it("is searched exactly, with one notice, where neither WebAssembly nor hnswlib-node is", async () => {
    const printed = await withoutHnswlib("delete globalThis.WebAssembly;");
    expect(printed).toEqual(["HNSW_MISSING", "HNSW_MISSING true", "flat", "flat"]);
  });
});

const GRAPH = "hnsw M 16 efConstruction 200 efSearch 128";

/** Opens the graph's index twice and builds another one, in a process that cannot load hnswlib-node. */
async function withoutHnswlib(first: string): Promise<string[]> {
  const script = `
    import { register } from "node:module";
    register("data:text/javascript," + encodeURIComponent(
      'export const resolve = (name, context, next) => { if (name === "hnswlib-node") throw new Error("not here"); return next(name, context); };'
    ));
    const kept = globalThis.WebAssembly;
    ${first}
    await import("./dist/base/wasm.js");
    globalThis.WebAssembly = kept; // Node itself needs it
    process.on("warning", ({ code, message }) => console.log(code, message.includes("is searched exactly")));
    const { openDenseIndex } = await import("./dist/retrieval/dense/open-dense-index.js");
    const { openEncoder } = await import("./dist/retrieval/dense/encoder.js");
    const { buildDenseIndex } = await import("./dist/retrieval/dense/build-dense-index.js");
    for (const _ of [1, 2]) {
      const retriever = await openDenseIndex(${JSON.stringify(join(folder, "graph"))});
      console.log(retriever.vectors.kind);
      await retriever.close();
    }
    const encoder = await openEncoder(${JSON.stringify(join(folder, "model"))});
    await buildDenseIndex([{ id: "a", title: "", text: "word1" }], ${JSON.stringify(join(folder, "none"))}, { encoder, graph: "hnsw" })
      .catch((error) => console.log(error.code));`;
  return (await runNode(script)).trim().split("\n").sort();
}

describe("a dense index that is damaged or of another model", () => {
  for (const [file, source] of [
    ["vectors.bin", "flat"],
    ["graph.hnsw", "graph"],
    ["passages.jsonl", "flat"],
    ["passage-starts.f64", "flat"],
    ["manifest.json", "flat"],
  ] as const) {
    it(`never answers from a flipped byte in ${file}`, async () => {
      const damaged = join(folder, `damaged-${file}`);
      await cp(join(folder, source), damaged, { recursive: true });
      const handle = await open(join(damaged, file), "r+");
      const { size } = await handle.stat();
      const at = Math.floor(size / 3);
      const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, at);
      await handle.write(Buffer.of(buffer[0]! ^ 4), 0, 1, at);
      await handle.close();
      const use = async () => {
        const retriever = await openDenseIndex(damaged);
        await retriever.search(["word1"], 700);
      };
      await expect(use()).rejects.toThrow(errorWith("INDEX_CORRUPT"));
    });
  }

  it("names the model that made it", async () => {
    const other = await writeTinyEncoder(join(folder, "other"), [...words, "more"]);
    await expect(openDenseIndex(join(folder, "flat"), { model: other })).rejects.toThrow(
      errorWith("INDEX_ENCODER", "Queries and passages need the same model"),
    );
    await expect(openDenseIndex(join(folder, "flat"), { model: "/nowhere" })).rejects.toThrow(
      errorWith("INDEX_ENCODER", "If the model has moved"),
    );
  });
});

describe("an interrupted build", () => {
  /** Stops at a phase, after some progress. */
  async function interrupted(name: string, phase: string, at: number, options = {}): Promise<void> {
    const stop = new AbortController();
    const result = build(name, {
      ...options,
      signal: stop.signal,
      onProgress: (now, done) => {
        if (now === phase && done >= at) stop.abort(new Error("stop"));
      },
    });
    await expect(result).rejects.toThrow("stop");
    expect((await readdir(folder)).filter((each) => each.startsWith(`${name}.tmp`))).toEqual([]);
    expect(existsSync(join(folder, name))).toBe(false);
  }

  it("goes on from its last whole batch to the index that it would have been", async () => {
    await interrupted("resumed", "encoding", 256);
    const done: number[] = [];
    const manifest = await build("resumed", {
      resume: true,
      onProgress: (phase, count) => {
        if (phase === "encoding") done.push(count);
      },
    });
    expect(done).toEqual([256, 512, 700]);
    expect(manifest).toEqual(await build("straight", {}));
    expect(existsSync(join(folder, "resumed.draft"))).toBe(false);
  });

  it("keeps its vectors when the graph is interrupted", async () => {
    await interrupted("half-graph", "graph", 128, { graph: "hnsw" });
    const done: number[] = [];
    const manifest = await build("half-graph", {
      graph: "hnsw",
      resume: true,
      onProgress: (phase, count) => {
        if (phase === "encoding") done.push(count);
      },
    });
    expect(done).toEqual([700]);
    expect(manifest.graph).toEqual((await openManifest("graph")).graph);
  });

  it("is not thrown away, or mixed with anything else, unasked", async () => {
    await interrupted("kept", "encoding", 256);
    await expect(build("kept", {})).rejects.toThrow(
      errorWith(
        "INDEX_DRAFT",
        "contains 256 vectors of an interrupted build. Continue it with --resume",
      ),
    );
    await expect(build("kept", { resume: true, vectors: "f16" })).rejects.toThrow(
      errorWith("INDEX_DRAFT", "belong to another corpus, encoder or storage"),
    );
    await expect(build("kept", { resume: true }, passages.slice(1))).rejects.toThrow(
      errorWith("INDEX_DRAFT"),
    );
    expect((await build("kept", { overwrite: true })).corpus.passages).toBe(700);
  });

  it("is not resumed from damaged vectors", async () => {
    await interrupted("spoiled", "encoding", 256);
    const handle = await open(join(folder, "spoiled.draft", "vectors.part"), "r+");
    await handle.write(Buffer.of(99), 0, 1, 1000);
    await handle.close();
    await expect(build("spoiled", { resume: true })).rejects.toThrow(
      errorWith("INDEX_CORRUPT", "Start again with --overwrite"),
    );
  });
});

it("refuses corpora that are empty or have an id twice", async () => {
  await expect(build("empty", {}, [])).rejects.toThrow(errorWith("CORPUS_EMPTY"));
  await expect(build("twice", {}, [passages[0]!, passages[0]!])).rejects.toThrow(
    errorWith("CORPUS_DUPLICATE_ID", 'have the same id "p0"'),
  );
});

async function openManifest(name: string) {
  const retriever = await openDenseIndex(join(folder, name));
  await retriever.close();
  return retriever.manifest;
}

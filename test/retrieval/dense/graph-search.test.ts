import { existsSync } from "node:fs";
import { truncate } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sha256File } from "../../../src/base/files.ts";
import { random } from "../../../src/base/random.ts";
import { webAssembly } from "../../../src/base/wasm.ts";
import { openGraphSearch } from "../../../src/retrieval/dense/graph-search.ts";
import { buildHnsw, hnswBytes, openByLibrary } from "../../../src/retrieval/dense/hnsw.ts";
import { scoreHeap } from "../../../src/retrieval/top-k.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();

/** A graph of vectors of length 1, or of any other, and queries. */
async function made(dimensions: number, count = 3000, M = 6, lengthOf = (_: number) => 1) {
  const draw = random(`graph ${dimensions}`);
  const unit = (n: number): Float32Array => {
    const all = Float32Array.from({ length: n * dimensions }, () => draw.normal());
    for (let at = 0; at < all.length; at += dimensions) {
      const length = Math.hypot(...all.subarray(at, at + dimensions));
      for (let d = 0; d < dimensions; d++) all[at + d]! /= length;
    }
    return all;
  };
  const vectors = unit(count).map((x, i) => x * lengthOf(Math.floor(i / dimensions)));
  const path = join(folder, `${dimensions}-${count}-${M}.hnsw`);
  const entry = await buildHnsw(path, {
    M,
    efConstruction: 60,
    efSearch: 40,
    count,
    dimensions,
    vectors: (from, to) => vectors.subarray(from * dimensions, to * dimensions),
  });
  const queries = unit(50);
  const query = (i: number) => queries.subarray(i * dimensions, (i + 1) * dimensions);
  return { path, entry, dimensions, count, query, vectors };
}

describe("a graph's search", () => {
  for (const dimensions of [3, 8, 17, 32]) {
    it(`finds what hnswlib finds, ${dimensions} dimensions`, async () => {
      const { query, ...file } = await made(dimensions);
      const source = { ...file, sha256: file.entry.sha256, steering: "f32" as const };
      const ours = await openGraphSearch(webAssembly!, source);
      const theirs = await openByLibrary(file);
      for (let i = 0; i < 50; i++) {
        const found = ours.search(query(i), 10, 40);
        const expected = theirs.search(query(i), 10, 40);
        expect(found.map(({ position }) => position)).toEqual(
          expected.map(({ position }) => position),
        );
        for (const [rank, { score }] of found.entries()) {
          expect(score).toBeCloseTo(expected[rank]!.score, 5);
        }
      }
    });
  }

  it("finds nearly the same when it is steered by bytes, with the same scores", async () => {
    const { query, ...file } = await made(24);
    const source = { ...file, sha256: file.entry.sha256 };
    const rough = await openGraphSearch(webAssembly!, source);
    const exact = await openGraphSearch(webAssembly!, { ...source, steering: "f32" });
    let same = 0;
    for (let i = 0; i < 50; i++) {
      const expected = new Map(
        exact.search(query(i), 10, 40).map(({ position, score }) => [position, score]),
      );
      for (const { position, score } of rough.search(query(i), 10, 40)) {
        if (!expected.has(position)) continue;
        expect(score).toBe(expected.get(position));
        same += 1;
      }
    }
    expect(same / 500).toBeGreaterThan(0.98);
  });

  it("finds about as much by bytes where a few vectors are many times as long as the others", async () => {
    const lengths = (i: number): number => (i % 1500 === 7 ? 1000 : 1 + (i % 5));
    const { query, ...file } = await made(24, 3000, 8, lengths);
    const source = { ...file, sha256: file.entry.sha256 };
    const rough = await openGraphSearch(webAssembly!, source);
    const exact = await openGraphSearch(webAssembly!, { ...source, steering: "f32" });
    const recall = { rough: 0, exact: 0 };
    for (let i = 0; i < 50; i++) {
      const scored = Array.from({ length: file.count }, (_, position) => {
        const vector = file.vectors.subarray(24 * position, 24 * (position + 1));
        return { position, score: vector.reduce((sum, x, d) => sum + x * query(i)[d]!, 0) };
      });
      const best = scored.sort((a, b) => b.score - a.score).slice(0, 10);
      const wanted = new Set(best.map(({ position }) => position));
      for (const [name, search] of Object.entries({ rough, exact })) {
        const hits = search
          .search(query(i), 10, 128)
          .filter(({ position }) => wanted.has(position));
        recall[name as "rough" | "exact"] += hits.length / 500;
      }
    }
    expect(recall.rough).toBeGreaterThan(recall.exact - 0.02);
  });

  it("gives all there are where k is larger, also of a single vector", async () => {
    const { query, ...file } = await made(8, 1);
    const search = await openGraphSearch(webAssembly!, { ...file, sha256: file.entry.sha256 });
    expect(search.search(file.vectors, 10, 40)).toEqual([
      { position: 0, score: expect.closeTo(1, 5) as number },
    ]);
    expect(query(0)).toHaveLength(8);
  });

  it("refuses a graph of another shape", async () => {
    const { path, entry } = await made(8, 20);
    const source = { path, sha256: entry.sha256, dimensions: 8, count: 21 };
    await expect(openGraphSearch(webAssembly!, source)).rejects.toThrow(
      errorWith("INDEX_CORRUPT", "is not a graph of 21 vectors of 8 dimensions"),
    );
    await expect(
      openGraphSearch(webAssembly!, { ...source, path: join(folder, "none") }),
    ).rejects.toThrow(errorWith("INDEX_CORRUPT", "cannot be read"));
  });

  it("takes the memory that is forecast", async () => {
    const { entry } = await made(32, 3000, 16);
    expect(entry.bytes / hnswBytes(3000, 32, 16)).toBeCloseTo(1, 1);
  });
});

it("a build is stopped between vectors", async () => {
  const stop = new AbortController();
  const build = buildHnsw(join(folder, "stopped"), {
    M: 4,
    efConstruction: 20,
    efSearch: 10,
    count: 1000,
    dimensions: 2,
    signal: stop.signal,
    vectors: (from, to) => new Float32Array(2 * (to - from)).fill(1),
    onProgress: (done) => {
      if (done >= 128) stop.abort(new Error("stop"));
    },
  });
  await expect(build).rejects.toThrow("stop");
});

describe("a graph that is not written whole", () => {
  it.runIf(existsSync("/dev/full"))("is an error of the build: the disk may be full", async () => {
    const build = { M: 4, efConstruction: 20, efSearch: 10, count: 100, dimensions: 2 };
    const vectors = (from: number, to: number) => new Float32Array(2 * (to - from)).fill(1);
    await expect(buildHnsw("/dev/full", { ...build, vectors })).rejects.toThrow(
      errorWith("FILE_WRITE_FAILED", "only 0 of at least 5600 bytes"),
    );
  });

  it("is an error when it is opened, though its checksum is that of what was written", async () => {
    const { path, entry, dimensions, count } = await made(8, 500);
    await truncate(path, entry.bytes - 10);
    const source = { path, sha256: await sha256File(path), dimensions, count };
    await expect(openGraphSearch(webAssembly!, source)).rejects.toThrow(
      errorWith("INDEX_CORRUPT", "its upper layers end too early"),
    );
  });
});

it("a heap gives items by ascending score, however many", () => {
  const draw = random("heap");
  const heap = scoreHeap();
  const scores = Array.from({ length: 3000 }, () => draw.next());
  scores.forEach((score, item) => {
    heap.push(score, item);
  });
  const taken = scores.map(() => scores[heap.pop()]!);
  expect(taken).toEqual([...scores].sort((a, b) => a - b));
  expect(heap.size).toBe(0);
});

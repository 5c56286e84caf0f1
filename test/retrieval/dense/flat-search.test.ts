import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { openFlatSearch } from "../../../src/retrieval/dense/flat-search.ts";
import {
  encodeVectors,
  type VectorFile,
  type VectorStorage,
  vectorFormat,
} from "../../../src/retrieval/dense/vector-format.ts";
import { createFile } from "../../../src/retrieval/store/checked-file.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const D = 20;

function written(name: string, vectors: Float32Array, storage: VectorStorage = "f32"): VectorFile {
  const path = join(folder, name);
  const format = vectorFormat(storage, D);
  const file = createFile(path);
  file.append(encodeVectors(format, vectors));
  return { path, entry: file.finish(), format };
}

function drawn(seed: string, count: number): Float32Array {
  const draw = random(seed);
  return Float32Array.from({ length: count * D }, () => draw.normal());
}

const vectors = drawn("vectors", 1003);
const queries = drawn("queries", 37);

/** Scores of all vectors, sorted: the definition. */
function expected(query: Float32Array, k: number): number[] {
  const scores = Array.from({ length: vectors.length / D }, (_, i) => {
    let score = 0;
    for (let d = 0; d < D; d++) score += vectors[i * D + d]! * query[d]!;
    return { i, score };
  });
  return scores
    .sort((a, b) => b.score - a.score)
    .slice(0, k)
    .map(({ i }) => i);
}

describe("flat search", () => {
  for (const [how, options] of [
    ["in this thread", { threads: 0 }],
    ["by three threads", { threads: 3 }],
    ["read from the file", { threads: 0, resident: false }],
    ["read from the file by two threads", { threads: 2, resident: false }],
  ] as const) {
    it(`finds the vectors of largest inner product, ${how}`, async () => {
      const search = await openFlatSearch(written(how, vectors), options);
      try {
        const hits = await search.search(queries, 5);
        expect(hits).toHaveLength(37);
        for (let q = 0; q < 37; q++) {
          const wanted = expected(queries.subarray(q * D, (q + 1) * D), 5);
          expect(hits[q]!.map(({ position }) => position)).toEqual(wanted);
        }
        expect(await search.search(new Float32Array(0), 5)).toEqual([]);
      } finally {
        await search.close();
      }
    });
  }

  it("gives equal vectors in the order of their positions, whatever the threads", async () => {
    const same = new Float32Array(40 * D).fill(0.25);
    for (const threads of [0, 3]) {
      const search = await openFlatSearch(written(`same-${threads}`, same), { threads });
      const [hits] = await search.search(new Float32Array(D).fill(-1), 4);
      await search.close();
      expect(hits).toEqual([0, 1, 2, 3].map((position) => ({ position, score: -5 })));
    }
  });

  it("answers searches that overlap each with its own hits", async () => {
    const search = await openFlatSearch(written("overlap", vectors), { threads: 2 });
    const one = (q: number) => queries.subarray(q * D, (q + 1) * D);
    const together = await Promise.all([0, 1, 2].map((q) => search.search(one(q), 3)));
    for (const q of [0, 1, 2]) {
      expect(together[q]![0]!.map(({ position }) => position)).toEqual(expected(one(q), 3));
    }
    await search.close();
  });

  it("finds a flipped byte: on opening when resident, else when it is read", async () => {
    const file = written("flipped", vectors, "f16");
    const handle = openSync(file.path, "r+");
    writeSync(handle, Uint8Array.of(1), 0, 1, 5000);
    closeSync(handle);
    for (const threads of [0, 2]) {
      await expect(openFlatSearch(file, { threads })).rejects.toThrow(
        errorWith("INDEX_CORRUPT", "bytes 4096 to 8192 were modified"),
      );
      const search = await openFlatSearch(file, { threads, resident: false });
      await expect(search.search(queries, 1)).rejects.toThrow(errorWith("INDEX_CORRUPT"));
      await search.close();
    }
  });

  it("stops when asked to, and says so when it was closed", async () => {
    const search = await openFlatSearch(written("stop", vectors), { threads: 1 });
    const stop = AbortSignal.abort(new Error("stop"));
    await expect(search.search(queries, 1, stop)).rejects.toThrow("stop");
    await search.close();
    await expect(search.search(queries, 1)).rejects.toThrow(
      errorWith("RUNTIME_FAILED", "a search thread ended"),
    );
  });
});

import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import {
  type BuiltGraph,
  chooseEfSearch,
  heldOut,
} from "../../../src/retrieval/dense/choose-ef-search.ts";
import { buildHnsw } from "../../../src/retrieval/dense/hnsw.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const COUNT = 500;
const D = 8;
const draw = random("efSearch");
const all = Float32Array.from({ length: COUNT * D }, () => draw.normal());
const vectors = (from: number, to: number): Float32Array => all.subarray(from * D, to * D);
const dot = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, x, d) => sum + x * b[d]!, 0);

const held = heldOut(COUNT);

/** Finds everything, but for some hits that it loses when it looks at few candidates. */
function graph(loses: (efSearch: number, rank: number) => boolean): BuiltGraph {
  return {
    count: COUNT,
    dimensions: D,
    vectors,
    held,
    search: (query, k, efSearch) =>
      Array.from({ length: COUNT }, (_, position) => {
        return { position, score: dot(query, vectors(position, position + 1)) };
      })
        .filter(({ position }) => !held.has(position))
        .sort((a, b) => b.score - a.score)
        .slice(0, k)
        .filter((_, rank) => !loses(efSearch, rank)),
    pause: () => Promise.resolve(),
  };
}

describe("efSearch where none is given", () => {
  it("stays at 128 when that finds the nearest others", async () => {
    expect(await chooseEfSearch(graph(() => false))).toBe(128);
  });

  it("is the first of 128, 192, 256, 384, … that finds them", async () => {
    expect(await chooseEfSearch(graph((efSearch, rank) => efSearch < 300 && rank === 4))).toBe(384);
  });

  it("ends at 4096 when none does", async () => {
    expect(await chooseEfSearch(graph((_, rank) => rank === 4))).toBe(4096);
  });

  it("is measured by up to 128 vectors that the graph lacks, none of a few vectors", () => {
    expect([1, 128, 129, COUNT, 100_000].map((count) => heldOut(count).size)).toEqual([0, 0, 7, 25, 128]); // prettier-ignore
    expect(heldOut(1000)).toEqual(heldOut(1000));
  });

  it("asks for what lies between two of them, too", async () => {
    const asked: Float32Array[] = [];
    const own = graph(() => false);
    await chooseEfSearch({ ...own, search: (query, ...how) => (asked.push(query.slice()), own.search(query, ...how)) }); // prettier-ignore
    expect(asked).toHaveLength(2 * held.size);
    const [first, between, second] = asked;
    expect(between).toEqual(first!.map((x, d) => x + second![d]!));
  });

  it("is 128 of vectors that are all equal", async () => {
    const same = new Float32Array(D).fill(1);
    const equal = (from: number, to: number): Float32Array =>
      Float32Array.from({ length: (to - from) * D }, () => 1);
    const found = await chooseEfSearch({
      ...graph(() => false),
      vectors: equal,
      search: (query) =>
        Array.from({ length: 10 }, (_, i) => ({ position: i + 300, score: dot(query, same) })),
    });
    expect(found).toBe(128);
  });

  it("is kept with a graph that is built, where the given one is as it was given", async () => {
    const build = { M: 2, efConstruction: 10, count: COUNT, dimensions: D, vectors };
    const chosen = await buildHnsw(join(folder, "chosen"), build);
    expect(chosen.efSearch).toBeGreaterThan(128); // two links a vector are too few for 128 candidates
    expect((await buildHnsw(join(folder, "given"), { ...build, efSearch: 7 })).efSearch).toBe(7);
  });
});

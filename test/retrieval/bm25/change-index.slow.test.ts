import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { type Bm25Retriever, buildBm25 } from "../../../src/retrieval/bm25/bm25.ts";
import { buildIndex } from "../../../src/retrieval/bm25/build-index.ts";
import {
  addToIndex,
  compactIndex,
  deleteFromIndex,
} from "../../../src/retrieval/bm25/change-index.ts";
import { checkIndex } from "../../../src/retrieval/bm25/check-index.ts";
import { readBm25Manifest, SEGMENT_FILES } from "../../../src/retrieval/bm25/index-manifest.ts";
import { openIndex } from "../../../src/retrieval/bm25/open-index.ts";
import type { Retriever } from "../../../src/retrieval/retriever.ts";
import type { Passage } from "../../../src/trajectory/task.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { madeCorpus, madeQueries } from "../../helpers/made-corpus.ts";
import { expectBestOf } from "../../helpers/same-ranking.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const queries = madeQueries(12, { seed: "changes", words: 60 });
const made = (count: number, seed: string) =>
  madeCorpus({ count, seed, words: 60, prefix: `${seed}-` });
const idsOf = (passages: readonly Passage[]) => passages.map(({ id }) => id);

/** Asserts that the index answers as one of these passages would that never changed. */
async function expectAnswersOf(index: Retriever, passages: readonly Passage[]): Promise<void> {
  const expected = await buildBm25(passages).search(queries, passages.length);
  for (const k of [1, 10, passages.length]) {
    const found = await index.search(queries, k);
    queries.forEach((query, i) => {
      expectBestOf(expected[i]!, found[i]!, k, `"${query}", k ${k}`);
    });
  }
}

async function opened<T>(out: string, work: (index: Bm25Retriever) => Promise<T>): Promise<T> {
  const index = await openIndex(out);
  try {
    return await work(index);
  } finally {
    await index.close();
  }
}

/** One random change to an index and to the list of passages that it should hold. */
async function change(out: string, passages: Passage[], seed: string): Promise<Passage[]> {
  const draw = random(seed);
  const kind = draw.int(5);
  if (kind === 0) {
    await compactIndex(out);
    return passages;
  }
  if (kind <= 2 && passages.length > 1) {
    const gone = new Set(idsOf(draw.shuffle(passages).slice(0, 1 + draw.int(passages.length - 1))));
    await deleteFromIndex(out, gone);
    return passages.filter(({ id }) => !gone.has(id));
  }
  // Some have been there before: their ids come again, with other texts.
  const present = new Set(idsOf(passages));
  const again = made(200, "start").filter(({ id }) => !present.has(id) && draw.int(3) === 0);
  const added = [
    ...made(draw.int(80), seed),
    ...again.map((passage) => ({ ...passage, text: `${passage.text} w1 w2` })),
    { id: `one-${seed}`, title: "", text: "w5" },
  ];
  await addToIndex(out, added, { threads: 0 });
  return [...passages, ...added];
}

describe("changes to an index", () => {
  it.each([1, 2])("answers as one built anew after any changes (seed %i)", async (seed) => {
    const out = join(folder, `random-${seed}`);
    let passages = made(200, "start");
    await buildIndex(passages, out, { threads: 0 });
    for (let step = 0; step < 8; step++) {
      passages = await change(out, passages, `${seed}-${step}`);
      const { corpus } = await readBm25Manifest(out);
      expect(corpus.passages).toBe(passages.length);
      await opened(out, (index) => expectAnswersOf(index, passages));
    }
    expect((await checkIndex(out)).filter(({ ok }) => !ok)).toEqual([]);
  });

  it("leaves the same files after compaction as a build of what is left", async () => {
    const [first, second] = [made(700, "first"), made(300, "second")];
    const [out, again] = [join(folder, "compacted"), join(folder, "anew")];
    await buildIndex(first, out, { threads: 0 });
    await addToIndex(out, second, { threads: 0 });
    const gone = new Set([...idsOf(first).slice(100, 400), ...idsOf(second).slice(0, 7)]);
    await deleteFromIndex(out, gone);
    await compactIndex(out);
    await buildIndex(
      [...first, ...second].filter(({ id }) => !gone.has(id)),
      again,
      { threads: 0 },
    );
    const [compacted] = (await readBm25Manifest(out)).segments;
    for (const file of Object.values(SEGMENT_FILES)) {
      const bytes = await readFile(join(out, "segments", compacted!.name, file));
      const expected = await readFile(join(again, "segments/000001", file));
      expect(bytes.equals(expected), file).toBe(true);
    }
    expect(await readdir(join(out, "segments"))).toEqual([compacted!.name]);
  });

  it("leaves an index alone that needs no compaction", async () => {
    const out = join(folder, "compact");
    const manifest = await buildIndex(made(5, "a"), out, { threads: 0 });
    expect(await compactIndex(out)).toEqual(manifest);
  });

  it("goes on answering from the old state in a retriever that was open before", async () => {
    const out = join(folder, "open");
    const passages = made(300, "a");
    await buildIndex(passages, out, { threads: 0 });
    const before = await openIndex(out);
    await addToIndex(out, made(200, "b"), { threads: 0 });
    await deleteFromIndex(out, idsOf(passages).slice(0, 250));
    const between = await openIndex(out);
    await compactIndex(out);
    await expectAnswersOf(before, passages);
    await expectAnswersOf(between, [...passages.slice(250), ...made(200, "b")]);
    await before.close();
    await between.close();
  });

  it("opens at any moment of a change, in the state before it or after it", async () => {
    const out = join(folder, "concurrent");
    await buildIndex(made(50, "a"), out, { threads: 0 });
    let done = false;
    const counts = new Set<number>();
    const reading = (async () => {
      while (!done) {
        await opened(out, async (index) => {
          const dead = index.segments.reduce((sum, each) => sum + each.dead.positions.length, 0);
          counts.add(index.passages.count - dead);
          await index.search(queries, 3);
        });
      }
    })();
    for (let round = 0; round < 4; round++) {
      await addToIndex(out, made(30, `r${round}`), { threads: 0 });
      await deleteFromIndex(out, idsOf(made(30, `r${round}`)));
      await compactIndex(out);
      await buildIndex(made(50, "a"), out, { threads: 0, overwrite: true });
    }
    done = true;
    await reading;
    expect([...counts].filter((count) => count !== 50 && count !== 80)).toEqual([]);
  });

  it("tells apart every state by its fingerprint", async () => {
    const out = join(folder, "fingerprints");
    const print = () => opened(out, (index) => Promise.resolve(index.fingerprint));
    await buildIndex(made(5, "a"), out, { threads: 0 });
    const prints = [await print()];
    await addToIndex(out, made(2, "b"), { threads: 0 });
    prints.push(await print());
    await deleteFromIndex(out, ["b-1"]);
    prints.push(await print());
    await deleteFromIndex(out, ["b-0"]);
    prints.push(await print());
    expect(new Set(prints).size).toBe(4);
    await compactIndex(out);
    expect(await print()).toBe(prints[3]);
  });
});

describe("addToIndex", () => {
  it("refuses ids that the index has, or that come twice, and changes nothing", async () => {
    const out = join(folder, "duplicates");
    const before = await buildIndex(made(5, "a"), out, { threads: 0 });
    const add = (passages: Passage[]) =>
      addToIndex(out, passages, { threads: 0, source: "more.jsonl" });
    await expect(add([...made(2, "b"), ...made(3, "a").slice(2)])).rejects.toThrow(
      errorWith(
        "CORPUS_DUPLICATE_ID",
        `more.jsonl: passage 3 has the id "a-2", which already exists in ${out}; ids must be unique.`,
      ),
    );
    await expect(add([...made(2, "b"), ...made(1, "b")])).rejects.toThrow(
      errorWith("CORPUS_DUPLICATE_ID", 'passages 1 and 3 have the same id "b-0"'),
    );
    await expect(add([])).rejects.toThrow(errorWith("CORPUS_EMPTY"));
    expect(await readBm25Manifest(out)).toEqual(before);
    expect(await readdir(out)).toEqual(["manifest.json", "segments"]);
    expect(await readdir(join(out, "segments"))).toEqual(["000001"]);
  });

  it("analyses in threads as in this one", async () => {
    const [one, other] = [join(folder, "no-threads"), join(folder, "threads")];
    for (const [out, threads] of [
      [one, 0],
      [other, 2],
    ] as const) {
      await buildIndex(made(3000, "a"), out, { threads });
      await addToIndex(out, made(1500, "b"), { threads });
    }
    expect(await readFile(join(other, "manifest.json"), "utf8")).toBe(
      await readFile(join(one, "manifest.json"), "utf8"),
    );
  });

  it("stops when asked to and leaves the index as it was", async () => {
    const out = join(folder, "stopped");
    const before = await buildIndex(made(5, "a"), out, { threads: 0 });
    const signal = AbortSignal.abort(new Error("stop"));
    await expect(addToIndex(out, made(5, "b"), { signal, threads: 0 })).rejects.toThrow("stop");
    expect(await readBm25Manifest(out)).toEqual(before);
    expect(await readdir(join(out, "segments"))).toEqual(["000001"]);
  });

  it("needs an index", async () => {
    await expect(addToIndex(join(folder, "nowhere"), made(1, "a"))).rejects.toThrow(
      errorWith("INDEX_MISSING"),
    );
    expect(await readdir(folder)).not.toContain("nowhere");
  });
});

describe("deleteFromIndex", () => {
  it("says which ids it did not have, and counts each of the others once", async () => {
    const out = join(folder, "unknown");
    const before = await buildIndex(made(5, "a"), out, { threads: 0 });
    expect(await deleteFromIndex(out, ["a-9", "b"])).toEqual({
      manifest: before,
      deleted: 0,
      unknown: ["a-9", "b"],
    });
    const { deleted, unknown } = await deleteFromIndex(out, ["a-1", "c", "a-3", "a-1"]);
    expect({ deleted, unknown }).toEqual({ deleted: 2, unknown: ["c"] });
    expect((await deleteFromIndex(out, ["a-1"])).unknown).toEqual(["a-1"]);
  });

  it("never empties an index", async () => {
    const out = join(folder, "emptied");
    await buildIndex(made(3, "a"), out, { threads: 0 });
    await deleteFromIndex(out, ["a-0"]);
    await expect(deleteFromIndex(out, ["a-1", "a-2"])).rejects.toThrow(
      errorWith(
        "INDEX_WOULD_BE_EMPTY",
        `${out}: this would delete all 2 passages; an index needs at least one. Remove the folder instead.`,
      ),
    );
    await opened(out, (index) => expectAnswersOf(index, made(3, "a").slice(1)));
  });
});

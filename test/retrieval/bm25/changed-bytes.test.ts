// A byte that has changed in any file of an index is never served: whoever reads it is told, and `index check` finds it.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { AgentrlError } from "../../../src/base/errors.ts";
import { random } from "../../../src/base/random.ts";
import { buildIndex } from "../../../src/retrieval/bm25/build-index.ts";
import { addToIndex, deleteFromIndex } from "../../../src/retrieval/bm25/change-index.ts";
import { checkIndex } from "../../../src/retrieval/bm25/check-index.ts";
import { openIndex } from "../../../src/retrieval/bm25/open-index.ts";
import type { Hit } from "../../../src/retrieval/retriever.ts";
import { filesUnder } from "../../helpers/index-files.ts";
import { madeCorpus, madeQueries } from "../../helpers/made-corpus.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const out = join(temporaryFolder(), "idx");
const queries = madeQueries(30, { seed: "flips" });
let right: Hit[][];

beforeAll(async () => {
  await buildIndex(madeCorpus({ count: 2500, seed: "a", prefix: "a" }), out, { threads: 0 });
  await addToIndex(out, madeCorpus({ count: 300, seed: "b", prefix: "b" }), { threads: 0 });
  await deleteFromIndex(out, ["a3", "a1200", "b7"]);
  const index = await openIndex(out);
  right = await index.search(queries, 20);
  await index.close();
});

/** Asks every query by itself: each gives exactly its hits or an INDEX_CORRUPT. @returns whether anything was refused. */
async function refusesOrIsRight(): Promise<boolean> {
  let refused = 0;
  const tell = (error: unknown): void => {
    if (!(error instanceof AgentrlError) || error.code !== "INDEX_CORRUPT") throw error;
    refused += 1;
  };
  const index = await openIndex(out).catch(tell);
  if (index === undefined) return true;
  try {
    for (const [i, query] of queries.entries()) {
      const hits = await index.search([query], 20).catch(tell);
      if (hits !== undefined) expect(hits[0], query).toEqual(right[i]);
    }
    return refused > 0;
  } finally {
    await index.close();
  }
}

const checkFinds = (): Promise<boolean> =>
  checkIndex(out).then(
    (findings) => findings.some(({ ok }) => !ok),
    (error: unknown) => error instanceof AgentrlError && error.code === "INDEX_CORRUPT",
  );

/** First and last byte of the content and of the table of checksums, borders of pages, and some others. */
function placesIn(bytes: number, seed: string): number[] {
  const draw = random(seed);
  const pages = Math.ceil(bytes / 4100);
  const content = bytes - 4 * pages;
  const borders = [0, content - 1, content, bytes - 1, 4095, 4096].filter((at) => at < bytes);
  return [...new Set([...borders, ...Array.from({ length: 2 }, () => draw.int(bytes))])];
}

describe("an index with a changed byte", () => {
  it("is refused or right, and found by the check, whichever file and place it is", async () => {
    const files = await filesUnder(out);
    expect(files.filter((file) => file.includes("/dead-"))).toHaveLength(2);
    expect(files).toHaveLength(1 + 7 + 7 + 2);
    const noticed = new Set<string>();
    for (const file of files) {
      const path = join(out, file);
      const bytes = await readFile(path);
      for (const [i, at] of placesIn(bytes.length, file).entries()) {
        const changed = Buffer.from(bytes);
        changed[at]! ^= i % 2 === 0 ? 1 : 0x80;
        await writeFile(path, changed);
        if (await refusesOrIsRight()) noticed.add(file);
        expect(await checkFinds(), `${file}, byte ${at}`).toBe(true);
      }
      await writeFile(path, bytes);
    }
    // Opening or these queries read of every file; of ids only changes do, beyond the table of checksums.
    expect([...noticed]).toEqual(files);
    expect(await refusesOrIsRight()).toBe(false);
  });

  it("answers rightly again after a search met a damaged page", async () => {
    const path = join(out, "segments/000001/postings.bin");
    const bytes = await readFile(path);
    const changed = Buffer.from(bytes);
    for (let at = 100; at < bytes.length - 100; at += 4096) changed[at]! ^= 4;
    const index = await openIndex(out);
    await writeFile(path, changed);
    const results = await Promise.allSettled(queries.map((query) => index.search([query], 20)));
    expect(results.filter(({ status }) => status === "rejected").length).toBeGreaterThan(0);
    await writeFile(path, bytes);
    expect(await index.search(queries, 20)).toEqual(right);
    await index.close();
  });
});

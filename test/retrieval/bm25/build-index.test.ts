import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { buildBm25 } from "../../../src/retrieval/bm25/bm25.ts";
import { buildIndex } from "../../../src/retrieval/bm25/build-index.ts";
import { SEGMENT_FILES } from "../../../src/retrieval/bm25/index-manifest.ts";
import { openIndex } from "../../../src/retrieval/bm25/open-index.ts";
import { workerRunWriter } from "../../../src/retrieval/bm25/corpus-writer.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { filesUnder } from "../../helpers/index-files.ts";
import { madeCorpus } from "../../helpers/made-corpus.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const passages = [
  { id: "a", title: "Oslo", text: "Oslo is the capital of Norway." },
  { id: "b", title: "Bergen", text: "A city in Norway with much rain — regn på norsk." },
  { id: "c", title: "Lima", text: "The capital of Peru.\nIt rarely rains." },
  { id: "d", title: "", text: "" },
];
const queries = ["capital of Norway", "rain", "norsk", "nothing of it"];

const all = temporaryFolder();
let made = 0;

/** An empty folder. */
async function freshFolder(): Promise<string> {
  made += 1;
  const folder = join(all, String(made));
  await mkdir(folder);
  return folder;
}

async function freshOut(): Promise<{ folder: string; out: string }> {
  const folder = await freshFolder();
  return { folder, out: join(folder, "idx") };
}

async function passagesIn(out: string): Promise<number> {
  const index = await openIndex(out);
  await index.close();
  return index.passages.count;
}

describe("buildIndex", () => {
  it("answers as the same corpus held in memory does, with the same fingerprint", async () => {
    const { out } = await freshOut();
    await buildIndex(passages, out, { k1: 1.2, b: 0.75, threads: 0 });
    const stored = await openIndex(out);
    const inMemory = buildBm25(passages, { k1: 1.2, b: 0.75 });
    expect(await stored.search(queries, 3)).toEqual(await inMemory.search(queries, 3));
    expect(stored.fingerprint).toBe(inMemory.fingerprint);
    await stored.close();
  });

  it("writes the same bytes whenever and with however many threads it is built", async () => {
    const { folder } = await freshOut();
    const corpus = madeCorpus({ count: 5500, seed: "threads" });
    const manifests = [];
    for (const threads of [0, 1, 3]) {
      const out = join(folder, `threads-${threads}`);
      await buildIndex(corpus, out, { threads });
      // Of every file there is a checksum in it.
      manifests.push(await readFile(join(out, "manifest.json"), "utf8"));
    }
    expect(manifests[1]).toBe(manifests[0]);
    expect(manifests[2]).toBe(manifests[0]);
  });

  it("leaves the files that the manifest names and no others", async () => {
    const { out } = await freshOut();
    const manifest = await buildIndex(passages, out);
    expect(manifest).toMatchObject({
      format: "agentrl-index",
      version: 2,
      kind: "bm25",
      changes: 1,
      corpus: { passages: 4 },
      segments: [{ name: "000001", passages: 4 }],
    });
    expect(await filesUnder(out)).toEqual([
      "manifest.json",
      ...Object.values(SEGMENT_FILES)
        .map((file) => `segments/000001/${file}`)
        .sort(),
    ]);
  });

  it("leaves nothing behind when the corpus is empty, repeats an id, or breaks off", async () => {
    const { folder, out } = await freshOut();
    const build = (corpus: Iterable<(typeof passages)[number]>) =>
      buildIndex(corpus, out, { threads: 1, source: "corpus.jsonl" });
    await expect(build([])).rejects.toThrow(errorWith("CORPUS_EMPTY", "corpus.jsonl: contains no"));
    await expect(build([...passages, ...passages])).rejects.toThrow(
      errorWith("CORPUS_DUPLICATE_ID", 'corpus.jsonl: passages 1 and 5 have the same id "a"'),
    );
    function* broken() {
      yield* passages;
      throw new Error("cut");
    }
    await expect(build(broken())).rejects.toThrow("cut");
    const long = [{ id: "long", title: "", text: "x ".repeat(65_536) }];
    await expect(build(long)).rejects.toThrow(errorWith("PASSAGE_TOO_LONG", 'passage "long"'));
    expect(await readdir(folder)).toEqual([]);
  });

  it("stops when asked to and leaves nothing behind", async () => {
    const { folder, out } = await freshOut();
    const signal = AbortSignal.abort(new Error("stop"));
    await expect(buildIndex(passages, out, { signal })).rejects.toThrow("stop");
    expect(await readdir(folder)).toEqual([]);
  });

  it("keeps an index that is there unless told to replace it", async () => {
    const { folder, out } = await freshOut();
    await buildIndex(passages, out);
    await expect(buildIndex(passages.slice(1), out)).rejects.toThrow(errorWith("INDEX_EXISTS"));
    await expect(buildIndex([], out, { overwrite: true })).rejects.toThrow(
      errorWith("CORPUS_EMPTY"),
    );
    expect(await passagesIn(out)).toBe(4);
    await buildIndex(passages.slice(1), out, { overwrite: true });
    expect(await passagesIn(out)).toBe(3);
    expect(await readdir(folder)).toEqual(["idx"]);
  });

  it("says so when the disk does not take it", async () => {
    const folder = await freshFolder();
    const file = join(folder, "file");
    await writeFile(file, "");
    await expect(buildIndex(passages, join(file, "idx"))).rejects.toThrow(
      errorWith("FILE_WRITE_FAILED", `${file}/idx: the index could not be written`),
    );
  });

  it("says so when a thread that analyses stops", async () => {
    // No such analyzer: the thread ends as it begins.
    const writer = workerRunWriter("nonsense");
    await expect(writer.add({ ids: ["a"], texts: ["x"] })).rejects.toThrow(
      errorWith("INDEX_WORKER_STOPPED", "fewer --threads"),
    );
    await expect(writer.write(join(all, "run"))).rejects.toThrow(errorWith("INDEX_WORKER_STOPPED"));
    await writer.close();
  });

  it("names the variant that is meant", async () => {
    await expect(buildIndex(passages, join(all, "x"), { variant: "bm25plus" })).rejects.toThrow(
      errorWith("PART_UNKNOWN", 'index.variant is "bm25plus"; no such BM25 variant'),
    );
  });
});

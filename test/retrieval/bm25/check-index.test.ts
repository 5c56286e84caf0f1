import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { buildIndex } from "../../../src/retrieval/bm25/build-index.ts";
import { addToIndex, deleteFromIndex } from "../../../src/retrieval/bm25/change-index.ts";
import { checkIndex } from "../../../src/retrieval/bm25/check-index.ts";
import { openIndex } from "../../../src/retrieval/bm25/open-index.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { editManifest } from "../../helpers/index-files.ts";
import { madeCorpus } from "../../helpers/made-corpus.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const passages = [
  { id: "a", title: "Oslo", text: "Oslo is the capital of Norway." },
  { id: "b", title: "Bergen", text: "A city in Norway with much rain." },
  { id: "c", title: "Lima", text: "The capital of Peru." },
];

async function built(name: string, corpus = passages): Promise<string> {
  const out = join(folder, name);
  await buildIndex(corpus, out, { threads: 0 });
  return out;
}

describe("checkIndex", () => {
  it("finds nothing wrong with an index as built", async () => {
    expect(await checkIndex(await built("whole"))).toMatchObject([
      { check: "checksums", ok: true },
      { check: "self-retrieval", ok: true },
      {
        check: "exact-scores",
        ok: true,
        detail: "3 queries: the first 10 scores are the formula's",
      },
    ]);
  });

  it("finds nothing wrong with one that was added to and deleted from", async () => {
    const out = await built("changed", madeCorpus({ count: 300, seed: 1 }));
    await addToIndex(out, passages, { threads: 0 });
    await deleteFromIndex(out, ["b", "p7", "p8"]);
    const findings = await checkIndex(out);
    expect(findings.filter(({ ok }) => !ok)).toEqual([]);
    expect(findings[0]!.detail).toMatch(/^16 files/);
  });

  it("works on passages without titles", async () => {
    const out = await built(
      "untitled",
      passages.map((passage) => ({ ...passage, title: "" })),
    );
    expect((await checkIndex(out)).every(({ ok }) => ok)).toBe(true);
  });

  it("names every damaged file, those that opening does not read included", async () => {
    const out = await built("damaged");
    const paths = ["ids.u32", "passages.jsonl"].map((name) => join(out, "segments/000001", name));
    for (const path of paths) {
      const bytes = await readFile(path);
      bytes[3]! ^= 1;
      await writeFile(path, bytes);
    }
    await openIndex(out).then((index) => index.close());
    const [finding, ...others] = await checkIndex(out);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ check: "checksums", ok: false });
    for (const path of paths) expect(finding!.detail).toContain(`${path}: bytes 0 to `);
  });

  it("notices scores that are not the formula's", async () => {
    const out = await built("parameters");
    await editManifest(out, (manifest) => {
      const [segment] = manifest["segments"] as { totalLength: number }[];
      segment!.totalLength += 20;
    });
    const findings = await checkIndex(out);
    expect(findings[2]).toMatchObject({ check: "exact-scores", ok: false });
    expect(findings[2]!.detail).toMatch(/^".*", hit 1: the index returns ".*" at .*, the formula/);
  });

  it("stops when asked to, and needs an index", async () => {
    const signal = AbortSignal.abort(new Error("stop"));
    await expect(checkIndex(await built("stop"), { signal })).rejects.toThrow("stop");
    await expect(checkIndex(join(folder, "none"))).rejects.toThrow(errorWith("INDEX_MISSING"));
  });
});

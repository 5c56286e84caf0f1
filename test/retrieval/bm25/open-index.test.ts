import { mkdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { buildIndex } from "../../../src/retrieval/bm25/build-index.ts";
import { openIndex } from "../../../src/retrieval/bm25/open-index.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { editManifest } from "../../helpers/index-files.ts";
import { madeCorpus } from "../../helpers/made-corpus.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const out = join(folder, "idx");
const passages = madeCorpus({ count: 20, seed: 1 });

beforeEach(async () => {
  await rm(out, { recursive: true, force: true });
  await buildIndex(passages, out, { threads: 0 });
});

describe("openIndex", () => {
  it("tells a folder without an index how to get one", async () => {
    const empty = join(folder, "empty");
    await mkdir(empty);
    await expect(openIndex(empty)).rejects.toThrow(
      errorWith("INDEX_MISSING", "agentrl index build"),
    );
    await expect(openIndex(join(folder, "absent"))).rejects.toThrow(errorWith("INDEX_MISSING"));
  });

  it("refuses another format version before it looks at anything else", async () => {
    await editManifest(out, (manifest) => {
      manifest["version"] = 3;
      manifest["segments"] = "elsewhere";
    });
    await expect(openIndex(out)).rejects.toThrow(
      errorWith("INDEX_VERSION", "index format 3; this version of agentrl reads format 2"),
    );
    // The first format had no checksum.
    await writeFile(join(out, "manifest.json"), '{"format":"agentrl-index","version":1}');
    await expect(openIndex(out)).rejects.toThrow(errorWith("INDEX_VERSION", "index format 1;"));
  });

  it("refuses an index made by another analyzer, or another version of it", async () => {
    await editManifest(out, (manifest) => {
      manifest["analyzer"] = { ...(manifest["analyzer"] as object), version: 700 };
    });
    await expect(openIndex(out)).rejects.toThrow(errorWith("INDEX_ANALYZER", "version 700"));
    await editManifest(out, (manifest) => {
      manifest["analyzer"] = { ...(manifest["analyzer"] as object), name: "klingon" };
    });
    await expect(openIndex(out)).rejects.toThrow(
      errorWith("INDEX_ANALYZER", 'made by analyzer "klingon"'),
    );
  });

  it("refuses a manifest that lacks something or is cut", async () => {
    await editManifest(out, (manifest) => {
      delete manifest["parameters"];
    });
    await expect(openIndex(out)).rejects.toThrow(
      errorWith("INDEX_CORRUPT", "manifest.json.parameters is missing"),
    );
    await writeFile(join(out, "manifest.json"), '{"format": "agentrl-ind');
    await expect(openIndex(out)).rejects.toThrow(errorWith("INDEX_CORRUPT"));
  });

  it("refuses a manifest that was touched, be it only its white space", async () => {
    const path = join(out, "manifest.json");
    const text = await readFile(path, "utf8");
    for (const touched of [text.replace("\n", " "), text.replace('"k1": 0.9', '"k1": 0.8')]) {
      expect(touched).not.toBe(text);
      await writeFile(path, touched);
      await expect(openIndex(out)).rejects.toThrow(errorWith("INDEX_CORRUPT", "manifest.json"));
    }
  });

  it("notices a file that is cut, longer, or gone", async () => {
    const path = join(out, "segments/000001/passages.jsonl");
    const { size } = await stat(path);
    const bytes = await readFile(path);
    await truncate(path, size - 3);
    await expect(openIndex(out)).rejects.toThrow(
      errorWith("INDEX_CORRUPT", /passages\.jsonl: ends at byte \d+/),
    );
    await writeFile(path, Buffer.concat([bytes, Buffer.of(0)]));
    await expect(openIndex(out)).rejects.toThrow(errorWith("INDEX_CORRUPT", "is longer than"));
    await rm(path);
    await expect(openIndex(out)).rejects.toThrow(errorWith("INDEX_CORRUPT", "cannot be read"));
  });

  it("notices the files of another index", async () => {
    const other = join(folder, "other");
    await buildIndex(madeCorpus({ count: 20, seed: 2 }), other, { threads: 0, overwrite: true });
    for (const name of ["terms.bin", "postings.bin", "lengths.u32", "passages.jsonl"]) {
      const path = join(out, "segments/000001", name);
      const own = await readFile(path);
      await writeFile(path, await readFile(join(other, "segments/000001", name)));
      await expect(openIndex(out)).rejects.toThrow(errorWith("INDEX_CORRUPT", name));
      await writeFile(path, own);
    }
    await openIndex(out).then((index) => index.close());
  });
});

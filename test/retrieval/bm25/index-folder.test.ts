import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sha256 } from "../../../src/base/files.ts";
import { buildBm25 } from "../../../src/retrieval/bm25/bm25.ts";
import { buildIndex } from "../../../src/retrieval/bm25/build-index.ts";
import { checkIndex } from "../../../src/retrieval/bm25/check-index.ts";
import { openIndex } from "../../../src/retrieval/bm25/open-index.ts";

const passages = [
  { id: "a", title: "Oslo", text: "Oslo is the capital of Norway." },
  { id: "b", title: "Bergen", text: "A city in Norway with much rain — regn på norsk." },
  { id: "c", title: "Lima", text: "The capital of Peru.\nIt rarely rains." },
  { id: "d", title: "", text: "" },
];
const queries = ["capital of Norway", "rain", "norsk", "nothing of it"];

let folder: string;
let out: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "agentrl-index-"));
  out = join(folder, "idx");
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function editManifest(edit: (manifest: Record<string, unknown>) => void): Promise<void> {
  const path = join(out, "manifest.json");
  const manifest = JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>;
  edit(manifest);
  await writeFile(path, JSON.stringify(manifest));
}

function segmentFile(name: string): string {
  return join(out, "segments", "000001", name);
}

function failure(code: string): Error {
  return expect.objectContaining({ code }) as Error;
}

describe("index folder", () => {
  it("answers as the same corpus held in memory does, with the same fingerprint", async () => {
    await buildIndex(passages, out, { k1: 1.2, b: 0.75 });
    const stored = await openIndex(out);
    const inMemory = buildBm25(passages, { k1: 1.2, b: 0.75 });
    expect(await stored.search(queries, 3)).toEqual(await inMemory.search(queries, 3));
    expect(stored.fingerprint).toBe(inMemory.fingerprint);
    await stored.close();
  });

  it("is the same to the byte when built twice", async () => {
    const again = join(folder, "again");
    await buildIndex(passages, out);
    await buildIndex(passages, again);
    const first = await readFile(join(out, "manifest.json"), "utf8");
    expect(await readFile(join(again, "manifest.json"), "utf8")).toBe(first);
  });

  it("names every file with its size and checksum", async () => {
    const manifest = await buildIndex(passages, out);
    expect(manifest.corpus.passages).toBe(4);
    const written = await readdir(join(out, "segments", "000001"));
    expect(written).toHaveLength(Object.keys(manifest.segments[0]?.files ?? {}).length);
    const bytes = await readFile(segmentFile("passages.jsonl"));
    expect(manifest.segments[0]?.files.passages).toEqual({
      bytes: bytes.length,
      sha256: sha256(bytes),
    });
  });

  it("leaves nothing behind when the corpus is empty, repeats an id, or breaks off", async () => {
    await expect(buildIndex([], out)).rejects.toThrow(failure("CORPUS_EMPTY"));
    const twice = [...passages, ...passages];
    await expect(buildIndex(twice, out)).rejects.toThrow(failure("CORPUS_DUPLICATE_ID"));
    await expect(
      buildIndex(
        (function* () {
          yield* passages;
          throw new Error("cut");
        })(),
        out,
      ),
    ).rejects.toThrow("cut");
    expect(await readdir(folder)).toEqual([]);
  });

  it("stops when asked to and leaves nothing behind", async () => {
    const signal = AbortSignal.abort(new Error("stop"));
    await expect(buildIndex(passages, out, { signal })).rejects.toThrow("stop");
    expect(await readdir(folder)).toEqual([]);
  });

  it("keeps an index that is there unless told to replace it", async () => {
    await buildIndex(passages, out);
    await expect(buildIndex(passages.slice(1), out)).rejects.toThrow(failure("INDEX_EXISTS"));
    await expect(buildIndex([], out, { overwrite: true })).rejects.toThrow(failure("CORPUS_EMPTY"));
    const before = await openIndex(out);
    expect(before.passages.count).toBe(4);
    await before.close();
    await buildIndex(passages.slice(1), out, { overwrite: true });
    const after = await openIndex(out);
    expect(after.passages.count).toBe(3);
    await after.close();
    expect(await readdir(folder)).toEqual(["idx"]);
  });

  it("never replaces a folder that is not an index", async () => {
    await writeFile(join(folder, "thesis.tex"), "years of work");
    await expect(buildIndex(passages, folder, { overwrite: true })).rejects.toThrow(
      failure("INDEX_EXISTS"),
    );
    expect(await readdir(folder)).toEqual(["thesis.tex"]);
  });

  it("says so when the disk does not take it", async () => {
    const file = join(folder, "file");
    await writeFile(file, "");
    await expect(buildIndex(passages, join(file, "idx"))).rejects.toThrow(
      failure("FILE_WRITE_FAILED"),
    );
  });
});

describe("openIndex", () => {
  it("tells a folder without an index how to get one", async () => {
    await expect(openIndex(folder)).rejects.toThrow(failure("INDEX_MISSING"));
    await expect(openIndex(folder)).rejects.toThrow("agentrl index build");
  });

  it("refuses another format version before it looks at anything else", async () => {
    await buildIndex(passages, out);
    await editManifest((manifest) => {
      manifest["version"] = 2;
      manifest["segments"] = "elsewhere";
    });
    await expect(openIndex(out)).rejects.toThrow(failure("INDEX_VERSION"));
    await expect(openIndex(out)).rejects.toThrow(
      "index format 2; this version of agentrl reads format 1",
    );
  });

  it("refuses an index made by another analyzer, or another version of it", async () => {
    await buildIndex(passages, out);
    await editManifest((manifest) => {
      manifest["analyzer"] = { ...(manifest["analyzer"] as object), version: 7 };
    });
    await expect(openIndex(out)).rejects.toThrow(failure("INDEX_ANALYZER"));
    await editManifest((manifest) => {
      manifest["analyzer"] = { ...(manifest["analyzer"] as object), name: "snowball" };
    });
    await expect(openIndex(out)).rejects.toThrow('made by analyzer "snowball"');
  });

  it("refuses a manifest that is damaged", async () => {
    await buildIndex(passages, out);
    await editManifest((manifest) => {
      delete manifest["parameters"];
    });
    await expect(openIndex(out)).rejects.toThrow(/manifest\.json\.parameters is missing/);
    await writeFile(join(out, "manifest.json"), '{"format": "agentrl-ind');
    await expect(openIndex(out)).rejects.toThrow(failure("INDEX_CORRUPT"));
  });

  it.each([
    "terms.txt",
    "starts.u32",
    "positions.u32",
    "frequencies.u16",
    "lengths.u32",
    "passage-starts.f64",
  ])("notices a changed byte in %s", async (name) => {
    await buildIndex(passages, out);
    const bytes = await readFile(segmentFile(name));
    bytes[bytes.length >> 1]! ^= 1;
    await writeFile(segmentFile(name), bytes);
    await expect(openIndex(out)).rejects.toThrow(failure("INDEX_CORRUPT"));
  });

  it("notices a file that is cut or gone", async () => {
    await buildIndex(passages, out);
    const path = segmentFile("passages.jsonl");
    await truncate(path, (await stat(path)).size - 3);
    await expect(openIndex(out)).rejects.toThrow(
      /passages\.jsonl: has \d+ bytes, the manifest says/,
    );
    await rm(path);
    await expect(openIndex(out)).rejects.toThrow(failure("INDEX_CORRUPT"));
  });
});

describe("checkIndex", () => {
  it("finds nothing wrong with an index as built", async () => {
    await buildIndex(passages, out);
    const findings = await checkIndex(out);
    expect(findings.map(({ check, ok }) => [check, ok])).toEqual([
      ["checksums", true],
      ["self-retrieval", true],
      ["exact-scores", true],
    ]);
  });

  it("works on passages without titles", async () => {
    await buildIndex(
      passages.map((passage) => ({ ...passage, title: "" })),
      out,
    );
    expect((await checkIndex(out)).every(({ ok }) => ok)).toBe(true);
  });

  it("names every damaged file, text that opening does not read included", async () => {
    await buildIndex(passages, out);
    const bytes = await readFile(segmentFile("passages.jsonl"));
    bytes[bytes.indexOf("Oslo")] = 0x55;
    await writeFile(segmentFile("passages.jsonl"), bytes);
    await openIndex(out).then((retriever) => retriever.close());
    expect(await checkIndex(out)).toEqual([
      {
        check: "checksums",
        ok: false,
        detail: `missing or changed: ${segmentFile("passages.jsonl")}`,
      },
    ]);
  });

  it("notices an index whose postings are those of another corpus", async () => {
    await buildIndex(passages, out);
    const frequencies = new Uint16Array(
      (await readFile(segmentFile("frequencies.u16"))).length / 2,
    );
    frequencies.fill(3);
    await writeFile(segmentFile("frequencies.u16"), Buffer.from(frequencies.buffer));
    await editManifest((manifest) => {
      const [segment] = manifest["segments"] as { files: Record<string, { sha256: string }> }[];
      segment!.files["frequencies"]!.sha256 = sha256(Buffer.from(frequencies.buffer));
    });
    const findings = await checkIndex(out);
    expect(findings[2]).toMatchObject({ check: "exact-scores", ok: false });
  });
});

/** Flat indexes that FAISS wrote, and what FAISS finds in them. AGENTRL_TEST_FAISS names a larger file of the same script. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readFaissFile, vectorBytes } from "../../src/retrieval/dense/faiss-file.ts";
import { openFlatSearch } from "../../src/retrieval/dense/flat-search.ts";
import { vectorFormat } from "../../src/retrieval/dense/vector-format.ts";
import { writePageTable } from "../../src/retrieval/store/checked-file.ts";
import { errorWith } from "../helpers/error-with.ts";
import { faissBytes } from "../helpers/faiss-bytes.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

interface Golden {
  count: number;
  dimensions: number;
  vectors: string;
  queries: string;
  /** The bytes before and after the vectors; the first hits of each query. */
  files: Record<
    string,
    { before: string; after: string; positions: number[][]; scores: number[][] }
  >;
  shifted: { before: string; after: string };
  l1: string;
  others: { kind: string; start: string }[];
}

const path = process.env["AGENTRL_TEST_FAISS"] ?? new URL("faiss-flat.json", import.meta.url);
const golden = JSON.parse(readFileSync(path, "utf8")) as Golden;
const folder = temporaryFolder();
const bytesOf = (text: string): Buffer => Buffer.from(text, "base64");
const floatsOf = (text: string): Float32Array =>
  new Float32Array(Uint8Array.from(bytesOf(text)).buffer);

function written(name: string, ...parts: Buffer[]): string {
  const file = join(folder, name);
  writeFileSync(file, Buffer.concat(parts));
  return file;
}

const withVectors = (name: string, { before, after }: { before: string; after: string }): string =>
  written(name, bytesOf(before), bytesOf(golden.vectors), bytesOf(after));

/** The search as an index of the file has it, from the file and from memory. */
async function openSearch(file: string, name: string, resident: boolean) {
  const found = await readFaissFile(file);
  const foreign = { ...found, table: join(folder, `${name}-${resident}.pages`) };
  const entry = await writePageTable(file, foreign, { bytes: vectorBytes(found) });
  const format = vectorFormat("f32", found.dimensions);
  return openFlatSearch({ path: file, entry, format, foreign }, { resident });
}

describe.each(Object.entries(golden.files))("%s", (name, file) => {
  it("is read as FAISS wrote it", async () => {
    const isL2 = name.endsWith("L2");
    expect(await readFaissFile(withVectors(name, file))).toEqual({
      count: golden.count,
      dimensions: golden.dimensions,
      metric: isL2 ? "l2" : "inner-product",
      offset: bytesOf(file.before).length,
    });
    const own = faissBytes(floatsOf(golden.vectors), golden.dimensions, isL2 ? "l2" : "inner-product"); // prettier-ignore
    if (file.after === "") expect(own.equals(readFileSync(join(folder, name)))).toBe(true);
  });

  it.each([false, true])("has the hits and scores of FAISS (in memory: %s)", async (resident) => {
    const search = await openSearch(withVectors(name, file), name, resident);
    const hits = await search.search(floatsOf(golden.queries), 5);
    await search.close();
    const differing = hits.filter((each, q) =>
      each.slice(0, 3).some(({ position }, i) => position !== file.positions[q]![i]),
    );
    expect([hits.length, differing]).toEqual([file.positions.length, []]);
    const sign = name.endsWith("L2") ? -1 : 1;
    for (const [q, each] of hits.entries())
      for (const [i, { score }] of each.entries())
        expect(sign * score).toBeCloseTo(file.scores[q]![i]!, golden.dimensions > 100 ? 1 : 4);
  });
});

describe("other indexes of FAISS", () => {
  it.each(golden.others)("$kind is refused by its name", async ({ kind, start }) => {
    const file = written("other.index", bytesOf(start));
    const type = bytesOf(start).toString("latin1", 0, 4);
    const problem = expect.objectContaining({
      code: "INDEX_FAISS",
      message: expect.stringMatching(/^\S+other\.index: is of FAISS's type ".{4}"/) as string,
    }) as Error;
    await expect(readFaissFile(file)).rejects.toThrow(problem);
    const inner = kind.startsWith("IDMap") ? "IHNf" : type;
    await expect(readFaissFile(file)).rejects.toThrow(errorWith("INDEX_FAISS", `"${inner}"`));
    await expect(readFaissFile(file)).rejects.toThrow(
      errorWith("INDEX_FAISS", "Allowed are IndexFlatIP and IndexFlatL2"),
    );
  });

  it("with another metric are refused", async () => {
    await expect(readFaissFile(written("l1.index", bytesOf(golden.l1)))).rejects.toThrow(
      errorWith("INDEX_FAISS", "its vectors are compared by metric 2"),
    );
  });

  it("with ids that are not the positions are refused", async () => {
    await expect(readFaissFile(withVectors("shifted", golden.shifted))).rejects.toThrow(
      errorWith("INDEX_FAISS", "vector 0 has the id 1"),
    );
  });
});

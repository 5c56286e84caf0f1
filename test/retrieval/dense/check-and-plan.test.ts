import { cp, open, rm, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { buildDenseIndex } from "../../../src/retrieval/dense/build-dense-index.ts";
import { checkDenseIndex } from "../../../src/retrieval/dense/check-dense-index.ts";
import { type Encoder, openEncoder } from "../../../src/retrieval/dense/encoder.ts";
import { planDenseIndex, refuseUnlessFits } from "../../../src/retrieval/dense/plan-dense-index.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { writeTinyEncoder } from "../../helpers/tiny-encoder.ts";

const folder = temporaryFolder();
const index = join(folder, "index");
const words = Array.from({ length: 50 }, (_, i) => `word${i}`);
const draw = random("check and plan");
const passages = Array.from({ length: 400 }, (_, i) => ({
  id: `p${i}`,
  title: "",
  text: Array.from({ length: 6 }, () => words[draw.int(50)]).join(" "),
}));
let encoder: Encoder;

beforeAll(async () => {
  encoder = await openEncoder(await writeTinyEncoder(join(folder, "model"), words));
  await buildDenseIndex(passages, index, { encoder, graph: "hnsw", vectors: "int8" });
});

describe("checking a dense index", () => {
  it("finds a whole one in order", async () => {
    const findings = await checkDenseIndex(index);
    expect(findings.map(({ check, ok }) => [check, ok])).toEqual([
      ["checksums", true],
      ["self-retrieval", true],
      ["graph-recall", true],
    ]);
    expect(findings[0]!.detail).toMatch(/^4 files, \d+ bytes, all intact$/);
    expect(findings[1]!.detail).toBe("100 of 100 passages find themselves among 10 hits");
    expect(findings[2]!.detail).toMatch(/efSearch 128 finds 1.0000 of the first 10 exact hits/);
  });

  for (const file of ["vectors.bin", "graph.hnsw", "passages.jsonl", "passage-starts.f64"]) {
    it(`names ${file} when a bit of it has changed: first byte, last one, any between`, async () => {
      const damaged = await copyOf(file);
      const { size } = await stat(join(damaged, file));
      for (const at of [0, 1, Math.floor(size / 3), size - 2, size - 1]) {
        await flip(join(damaged, file), at);
        const findings = await checkDenseIndex(damaged);
        expect(findings).toHaveLength(1);
        expect(findings[0]).toMatchObject({ check: "checksums", ok: false });
        expect(findings[0]!.detail).toContain(file);
        await flip(join(damaged, file), at);
      }
      expect((await checkDenseIndex(damaged))[0]).toMatchObject({ check: "checksums", ok: true });
    });
  }

  it("refuses a manifest in which a bit has changed", async () => {
    const damaged = await copyOf("manifest.json");
    const path = join(damaged, "manifest.json");
    const { size } = await stat(path);
    for (let at = 0; at < size; at += 29) {
      await flip(path, at);
      await expect(checkDenseIndex(damaged)).rejects.toMatchObject({
        code: expect.stringMatching(/^INDEX_(CORRUPT|VERSION)$/) as string,
      });
      await flip(path, at);
    }
  });

  it("names a file that is missing or cut short", async () => {
    for (const file of ["vectors.bin", "graph.hnsw"]) {
      const damaged = await copyOf(`short-${file}`);
      await truncate(join(damaged, file), 1000);
      expect((await checkDenseIndex(damaged))[0]).toMatchObject({ check: "checksums", ok: false });
      await rm(join(damaged, file));
      const [finding] = await checkDenseIndex(damaged);
      expect(finding!.ok).toBe(false);
      expect(finding!.detail).toContain(file);
    }
  });
});

async function copyOf(name: string): Promise<string> {
  const copy = join(folder, `damaged-${name}`);
  await cp(index, copy, { recursive: true });
  return copy;
}

/** Twice, it is as it was. */
async function flip(path: string, at: number): Promise<void> {
  const handle = await open(path, "r+");
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, at);
  await handle.write(Buffer.of(buffer[0]! ^ 4), 0, 1, at);
  await handle.close();
}

describe("planning a dense index", () => {
  it("tells the sizes that the build then has", async () => {
    const plan = await planDenseIndex(passages, {
      encoder,
      vectors: "int8",
      graph: "hnsw",
      sample: 400,
    });
    const {
      graph,
      vectors,
      passages: text,
    } = await buildDenseIndex(passages, join(folder, "built"), {
      encoder,
      vectors: "int8",
      graph: "hnsw",
    });
    expect(plan).toMatchObject({
      passages: 400,
      sampled: 400,
      dimensions: 16,
      vectors: "int8",
      graph: "hnsw",
      M: 16,
      vectorBytes: vectors.file.bytes,
      textBytes: text.passages.bytes + text.passageStarts.bytes,
      temporaryBytes: vectors.file.bytes,
    });
    expect(plan.graphBytes / graph!.bytes).toBeGreaterThan(0.9);
    expect(plan.graphBytes / graph!.bytes).toBeLessThan(1.1);
    expect(plan.bytesOnDisk).toBe(plan.textBytes + plan.vectorBytes + plan.graphBytes);
    expect(plan.seconds).toBeGreaterThan(0);
  });

  it("extrapolates from the first passages", async () => {
    const whole = await planDenseIndex(passages, { encoder, sample: 400 });
    const part = await planDenseIndex(passages, { encoder, sample: 40 });
    expect(part).toMatchObject({ passages: 400, sampled: 40, vectorBytes: 400 * 64 });
    expect(part.textBytes / whole.textBytes).toBeCloseTo(1, 1);
  });

  it("refuses what does not fit, with the number and what would", async () => {
    const plan = await planDenseIndex(passages, { encoder, graph: "hnsw" });
    const large = { ...plan, passages: 4e6, residentBytes: 0.9e9 };
    await expect(refuseUnlessFits(large, { out: index, maxMemory: 0.2e9 })).rejects.toThrow(
      errorWith(
        "INDEX_TOO_LARGE",
        "the index of 4000000 passages needs 900.0 MB of memory, but only 200.0 MB are available. These would fit: --graph flat --vectors f16 (128.0 MB); --graph flat --vectors int8 (80.0 MB); the first",
      ),
    );
    const huge = { ...plan, bytesOnDisk: 1e18 };
    await expect(refuseUnlessFits(huge, { out: join(folder, "not", "yet") })).rejects.toThrow(
      errorWith("INDEX_TOO_LARGE", "of disk during the build"),
    );
    await expect(refuseUnlessFits(plan, { out: index })).resolves.toBeUndefined();
  });
});

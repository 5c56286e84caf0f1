import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { buildIndex } from "../../../src/retrieval/bm25/build-index.ts";
import { planIndex } from "../../../src/retrieval/bm25/plan-index.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { filesUnder } from "../../helpers/index-files.ts";

/** Passages with a few common and ever new rare words. */
function corpus(count: number) {
  const draw = random(3);
  return Array.from({ length: count }, (_, i) => ({
    id: `passage-${i}`,
    title: `Title ${i % 97}`,
    text: Array.from({ length: 30 }, () => `w${Math.floor(draw.next() ** 3 * 2000)}`).join(" "),
  }));
}

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "agentrl-plan-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe("planIndex", () => {
  it("foretells the size of the folder, exactly from the whole corpus and within a fifth from a part", async () => {
    const passages = corpus(3000);
    const out = join(folder, "idx");
    await buildIndex(passages, out, { threads: 0 });
    let bytes = 0;
    for (const file of await filesUnder(out)) bytes += (await stat(join(out, file))).size;
    const whole = await planIndex(passages);
    expect(whole.sampled).toBe(3000);
    expect(Math.abs(whole.bytesOnDisk - bytes)).toBeLessThan(500);
    const part = await planIndex(passages, { sample: 600 });
    expect(part).toMatchObject({ sampled: 600, passages: 3000 });
    expect(Math.abs(part.bytesOnDisk / bytes - 1)).toBeLessThan(0.2);
    expect(part.seconds).toBeGreaterThan(0);
    expect(part.residentBytes).toBeLessThan(part.bytesOnDisk + part.textBytes + 3000 * 100);
  });

  it("refuses an empty corpus", async () => {
    await expect(planIndex([])).rejects.toThrow(errorWith("CORPUS_EMPTY"));
  });
});

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { buildIndex } from "../../../src/retrieval/bm25/build-index.ts";
import { planIndex } from "../../../src/retrieval/bm25/plan-index.ts";

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
  it("foretells the size of the folder, exactly from the whole corpus and within a tenth from a part", async () => {
    const passages = corpus(3000);
    const { segments } = await buildIndex(passages, join(folder, "idx"));
    const bytes = Object.values(segments[0]?.files ?? {}).reduce(
      (sum, file) => sum + file.bytes,
      0,
    );
    const whole = await planIndex(passages);
    expect(whole.sampled).toBe(3000);
    expect(Math.abs(whole.bytesOnDisk - bytes)).toBeLessThan(2500);
    const part = await planIndex(passages, { sample: 600 });
    expect(part).toMatchObject({ sampled: 600, passages: 3000 });
    expect(Math.abs(part.bytesOnDisk / bytes - 1)).toBeLessThan(0.1);
    expect(part.seconds).toBeGreaterThan(0);
    expect(part.residentBytes).toBeLessThan(part.bytesOnDisk + 3000 * 100);
  });

  it("refuses an empty corpus", async () => {
    await expect(planIndex([])).rejects.toThrow(
      expect.objectContaining({ code: "CORPUS_EMPTY" }) as Error,
    );
  });
});

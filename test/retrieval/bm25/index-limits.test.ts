import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { refuseUnlessFits } from "../../../src/retrieval/bm25/plan-index.ts";
import { freeDiskBytes } from "../../../src/base/files.ts";
import { errorWith } from "../../helpers/error-with.ts";

/** Wikipedia's 21 million passages, roughly. */
const plan = {
  passages: 21_000_000,
  sampled: 20_000,
  seconds: 7200,
  bytesOnDisk: 18e9,
  textBytes: 13e9,
  temporaryBytes: 4e9,
  residentBytes: 0.5e9,
};

describe("refuseUnlessFits", () => {
  it("accepts what fits, and looks at nothing that was not asked for", async () => {
    await refuseUnlessFits(plan, {});
    await refuseUnlessFits(plan, { maxDisk: 22e9, maxMemory: 0.5e9 });
    await refuseUnlessFits(
      { ...plan, bytesOnDisk: 1, temporaryBytes: 1, residentBytes: 1 },
      { out: tmpdir() },
    );
  });

  it("refuses what does not, with how much is needed and how many passages would fit", async () => {
    // 11 of 22 GB: half of the passages, rounded down to two digits.
    await expect(refuseUnlessFits(plan, { maxDisk: 11e9 })).rejects.toThrow(
      errorWith(
        "INDEX_TOO_LARGE",
        "the index of 21000000 passages needs 22.0 GB of disk during the build; afterwards 18.0 GB, but only 11.0 GB are available. About 10000000 of its passages would fit",
      ),
    );
    await expect(refuseUnlessFits(plan, { maxMemory: 50e6 })).rejects.toThrow(
      errorWith(
        "INDEX_TOO_LARGE",
        "needs 500.0 MB of memory once opened, but only 50.0 MB are available. About 2100000",
      ),
    );
  });

  it("holds it against the free disk where it will be written", async () => {
    const vast = { ...plan, bytesOnDisk: 1e18 };
    await expect(refuseUnlessFits(vast, { out: join(tmpdir(), "no/such/idx") })).rejects.toThrow(
      errorWith("INDEX_TOO_LARGE", "1000000.0 TB of disk"),
    );
  });
});

describe("freeDiskBytes", () => {
  it("is that of the nearest folder that exists", async () => {
    const here = await freeDiskBytes(tmpdir());
    expect(here).toBeGreaterThan(0);
    const below = await freeDiskBytes(join(tmpdir(), "not/yet/there"));
    expect(Math.abs(below / here - 1)).toBeLessThan(0.5);
  });
});

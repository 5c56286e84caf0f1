import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../../src/base/package-root.ts";
import { z } from "../../src/base/schema.ts";
import { resultsJsonSchema } from "../../src/view/results-schema.ts";
import { runCli } from "../helpers/run-cli.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const published = JSON.parse(
  readFileSync(join(packageRoot, "docs", "results.schema.json"), "utf8"),
) as Record<string, unknown>;

describe("the published schema of results", () => {
  it("is what the code says", () => {
    expect(published).toEqual(resultsJsonSchema());
  });

  it("fits what an evaluation writes, and not results that lack something", async () => {
    const out = join(temporaryFolder(), "eval");
    const { status, stderr } = await runCli([
      "eval",
      "--tier",
      "smoke",
      "--limit",
      "6",
      "--out",
      out,
    ]);
    expect(status, stderr).toBe(0);
    const results = JSON.parse(readFileSync(join(out, "results.json"), "utf8")) as Record<
      string,
      unknown
    >;
    // Read back from the published file: what it says counts, not what it was made from.
    const schema = z.fromJSONSchema(published);
    expect(schema.safeParse(results).error).toBeUndefined();
    const { metrics: _, ...without } = results;
    expect(schema.safeParse(without).success).toBe(false);
    expect(schema.safeParse({ ...results, intervals: { em: [0] } }).success).toBe(false);
  });
});

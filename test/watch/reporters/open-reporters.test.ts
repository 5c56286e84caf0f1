import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { parseOptions } from "../../../src/base/schema.ts";
import { reportersSchema } from "../../../src/watch/reporters/index.ts";
import { openReporters } from "../../../src/watch/reporters/open-reporters.ts";
import type { RunStart } from "../../../src/watch/reporters/reporter.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import "../../helpers/all-parts.ts";

const folder = temporaryFolder();
// Nothing listens there: ports below 1024 are not given out.
const nobody = "http://127.0.0.1:1";

function startOf(name: string): RunStart {
  const out = join(folder, name);
  return { recipe: "r", tier: "mini", version: "0.1.0", out, afterStep: 0, settings: {} };
}

describe("openReporters", () => {
  it("tells each reporter, and one that is in trouble disturbs no other", async () => {
    const named = parseOptions(
      reportersSchema,
      [{ name: "mlflow", url: nobody }, "tensorboard", { name: "trackio", url: nobody }],
      "reporters",
    );
    const troubles: string[] = [];
    const start = startOf("both");
    const reporter = await openReporters(named, start, (said) => troubles.push(said));
    reporter.metrics(1, { "a/b": 1 }, {});
    reporter.evaluation("after", 1, { em: 1 });
    reporter.event({ kind: "reporter", step: 1, message: "not for reporters", facts: {} });
    await reporter.close("finished");
    expect(readdirSync(join(start.out, "tensorboard"))).toHaveLength(1);
    const left =
      "not delivered: 1 step, 1 evaluation, the end of the run. The run folder has all of it.";
    expect(troubles).toHaveLength(4);
    expect(troubles).toContain(`mlflow: ${left}`);
    expect(troubles).toContain(`trackio: ${left}`);
  });

  it("leaves out a reporter that cannot begin, and says so when it is open", async () => {
    const start = startOf("in-the-way");
    mkdirSync(start.out);
    writeFileSync(join(start.out, "reporters"), "a file");
    const troubles: string[] = [];
    const named = [{ name: "mlflow", url: nobody }, { name: "tensorboard" }];
    const reporter = await openReporters(named, start, (said) => troubles.push(said));
    expect(troubles).toEqual([]);
    await vi.waitUntil(() => troubles.length > 0);
    expect(troubles[0]).toMatch(/^mlflow: .*reporters.* The run continues without it\.$/);
    await reporter.close("finished");
    expect(existsSync(join(start.out, "tensorboard"))).toBe(true);
  });

  it("refuses settings that only the environment shows to be wrong", async () => {
    vi.stubEnv("MLFLOW_TRACKING_URI", "");
    await expect(
      openReporters([{ name: "mlflow" }], startOf("x"), () => undefined),
    ).rejects.toThrow(errorWith("RECIPE_BAD_VALUE", "MLFLOW_TRACKING_URI"));
    vi.unstubAllEnvs();
  });

  it("does nothing without reporters", async () => {
    const reporter = await openReporters([], startOf("none"), () => undefined);
    reporter.metrics(1, {}, {});
    await reporter.close("finished");
    expect(existsSync(join(folder, "none"))).toBe(false);
  });
});

describe("reportersSchema", () => {
  it("names the reporters that there are", () => {
    expect(() => parseOptions(reportersSchema, ["tensorbord"], "reporters")).toThrow(
      errorWith(
        "PART_UNKNOWN",
        'reporters.0 is "tensorbord"; no such reporter. Did you mean "tensorboard"?',
      ),
    );
  });

  it("takes no address that holds a secret, and does not repeat it", () => {
    const url = "http://127.0.0.1:7860?write_token=hunter2";
    const check = (): unknown =>
      parseOptions(reportersSchema, [{ name: "trackio", url }], "reporters");
    expect(check).toThrow(errorWith("RECIPE_BAD_VALUE", "reporters.0.url "));
    expect(check).not.toThrow(/hunter2/);
  });
});

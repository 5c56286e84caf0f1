import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { Reporter, RunStart } from "../../../src/watch/reporters/reporter.ts";
import { wandb } from "../../../src/watch/reporters/wandb.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
let runs = 0;

function freshRun(): string {
  runs += 1;
  return join(folder, `run-${runs}`);
}

function startOf(out: string, afterStep = 0): RunStart {
  const settings = { seed: 0, "environment.prompt": "a\nb" };
  return { recipe: "r", tier: "mini", version: "0.1.0", out, afterStep, settings };
}

async function told(
  start: RunStart,
  tell: (reporter: Reporter) => void,
  options: object = {},
): Promise<string[]> {
  const troubles: string[] = [];
  const reporter = await wandb.open(options, start, (text) => troubles.push(text));
  tell(reporter);
  await reporter.close("finished");
  return troubles;
}

const alarm = { kind: "alarm", step: 3, message: "too low", facts: {} } as const;
const step = (reporter: Reporter, n: number, value = n): void => {
  reporter.metrics(n, { a: value }, {});
};

function linesOf(out: string): Record<string, unknown>[] {
  const file = readdirSync(join(out, "wandb")).find((name) => name.endsWith(".jsonl")) ?? "";
  const text = readFileSync(join(out, "wandb", file), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe("the wandb reporter", () => {
  it("writes settings, figures, alerts and the end as lines of JSON", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1_700_000_001_000 });
    const out = freshRun();
    await told(startOf(out), (reporter) => {
      reporter.metrics(1, { a: 1, b: NaN }, { trainSeconds: 2 });
      reporter.event(alarm);
      reporter.evaluation("after", 1, { em: 0.5 });
    });
    vi.useRealTimers();
    const [{ run }, ...rest] = linesOf(out) as [{ run: unknown }, ...unknown[]];
    expect(run).toEqual({
      id: expect.stringMatching(/^[\w-]{8}$/) as string,
      project: "r",
      name: `run-${runs}`,
      config: {
        recipe: "r",
        tier: "mini",
        agentrl: "0.1.0",
        seed: 0,
        "environment.prompt": "a\nb",
      },
    });
    const time = 1_700_000_001;
    expect(rest).toEqual([
      { step: 1, time, figures: { a: 1, b: "NaN", "timing/train_seconds": 2 } },
      { alert: { step: 3, title: "alarm", text: "too low", level: "WARN" } },
      { evaluation: 1, time, figures: { "evaluation/em": 0.5 } },
      { end: 0 },
    ]);
  });

  it("takes project and name from its options, else the project from WANDB_PROJECT", async () => {
    const namesFor = async (options: object): Promise<unknown> => {
      const out = freshRun();
      await told(
        startOf(out),
        (reporter) => {
          step(reporter, 1);
        },
        options,
      );
      const { project, name } = linesOf(out)[0]!["run"] as Record<string, unknown>;
      return [project, name];
    };
    expect(await namesFor({ project: "mine", runName: "first" })).toEqual(["mine", "first"]);
    vi.stubEnv("WANDB_PROJECT", "theirs");
    expect(await namesFor({})).toEqual(["theirs", `run-${runs}`]);
    vi.unstubAllEnvs();
  });

  it("says where it cannot write", async () => {
    const out = freshRun();
    mkdirSync(out, { recursive: true });
    writeFileSync(join(out, "wandb"), "a file");
    const [trouble] = await told(startOf(out), (reporter) => {
      step(reporter, 1);
    });
    expect(trouble).toContain(`wandb: ${join(out, "wandb")} cannot be written to (`);
    rmSync(join(out, "wandb"));
  });
});

const python = process.env["AGENTRL_TEST_PYTHON"] ?? "python3";
const absent = (() => {
  try {
    execFileSync(python, ["--version"], { stdio: "ignore" });
    return false;
  } catch {
    return true;
  }
})();

/** A wandb that prints what it is called with; `SENT` steps are at the server already. */
const STAND_IN = `
import json, os
class Run:
    step = int(os.environ.get("SENT", "0"))
    resumed = step > 0
    def log(self, row, step): print(json.dumps(["log", step, {k: str(v) for k, v in row.items() if k[0] != "_"}]))
    def alert(self, **given): print(json.dumps(["alert", given]))
    def finish(self, exit_code): print(json.dumps(["finish", exit_code]))
def init(**given):
    print(json.dumps(["init", sorted(given)]))
    return Run()
`;

describe.skipIf(absent)(`upload.py${absent ? ` (skipped: no ${python})` : ""}`, () => {
  function uploaded(out: string, sent = 0): unknown[] {
    writeFileSync(join(folder, "wandb.py"), STAND_IN);
    const env = { ...process.env, PYTHONPATH: folder, SENT: String(sent) };
    const text = execFileSync(python, [join(out, "wandb", "upload.py")], { env, encoding: "utf8" });
    return text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
  }
  const init = ["init", ["config", "id", "name", "project", "resume"]];

  it("logs each step once: the last figures after a rollback, an evaluation with its step", async () => {
    const out = freshRun();
    await told(startOf(out), (reporter) => {
      reporter.evaluation("before", 0, { em: 0 });
      for (const n of [1, 2, 3]) step(reporter, n);
      reporter.event(alarm);
      step(reporter, 2, 20);
      reporter.evaluation("after", 2, { em: NaN });
    });
    expect(uploaded(out)).toEqual([
      init,
      ["log", 0, { "evaluation/em": "0.0" }],
      ["log", 1, { a: "1.0" }],
      ["log", 2, { a: "20.0", "evaluation/em": "nan" }],
      ["alert", { title: "alarm", text: "too low", level: "WARN" }],
      ["finish", 0],
    ]);
  });

  it("adds the new steps of a resumed run, and survives half a line", async () => {
    const out = freshRun();
    await told(startOf(out), (reporter) => {
      step(reporter, 1);
    });
    const [file = ""] = readdirSync(join(out, "wandb")).filter((name) => name.endsWith(".jsonl"));
    await told(startOf(out, 1), (reporter) => {
      step(reporter, 2);
    });
    writeFileSync(
      join(out, "wandb", file),
      `${readFileSync(join(out, "wandb", file), "utf8")}{"st`,
    );
    expect(uploaded(out, 2)).toEqual([init, ["log", 2, { a: "2.0" }], ["finish", 0]]);
  });
});

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readPast } from "../../../src/cli/dashboard/follow-run.ts";
import { TOKENS_PER_SECOND } from "../../../src/view/runs/panels.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
mkdirSync(join(folder, "eval"));
const files = {
  "manifest.json": { machine: { device: "webgpu" } },
  "eval/after.json": { metrics: { em: 0.5 }, n: 9 },
  "eval/step-10.json": { metrics: { em: 0.3 }, n: 9 },
  "eval/step-5.json": { metrics: { em: 0.2 }, n: 9 },
  "eval/before.json": { metrics: { em: 0.1 }, n: 9 },
};
for (const [file, content] of Object.entries(files))
  writeFileSync(join(folder, file), JSON.stringify(content));
writeFileSync(join(folder, "eval", "before.rows.jsonl"), "{}\n");
const step = { step: 1, data: { "rollout/entropy": 0.5 }, timing: { tokensPerSecond: 700 } };
writeFileSync(join(folder, "metrics.jsonl"), `${JSON.stringify(step)}\n{"step":2,"da`);
const event = { kind: "resumed", step: 1, message: "from step 1", facts: {}, at: "2026-01-01" };
writeFileSync(join(folder, "events.jsonl"), `${JSON.stringify(event)}\n`);

describe("what a run folder knows", () => {
  it("is read whole where the run is gone on with, a cut last line left out", async () => {
    expect(await readPast(folder, true)).toEqual({
      device: "webgpu",
      history: [{ step: 1, metrics: { "rollout/entropy": 0.5, [TOKENS_PER_SECOND]: 700 } }],
      evaluations: [
        { name: "before", em: 0.1, n: 9 },
        { name: "step-5", em: 0.2, n: 9 },
        { name: "step-10", em: 0.3, n: 9 },
        { name: "after", em: 0.5, n: 9 },
      ],
      events: [event],
    });
  });

  it("is only the device where the run is a new one", async () => {
    expect(await readPast(folder, false)).toEqual({
      device: "webgpu",
      history: [],
      evaluations: [],
      events: [],
    });
  });
});

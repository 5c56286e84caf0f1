import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openArmStore } from "../../../src/experiment/arms/arm-store.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const origin = { version: "1", date: "2026-01-02", command: "agentrl reproduce x", machine: {} };
const arm = { key: "abc", seed: 1, result: { em: 0.5 }, origin };

function put(path: string, text: string): void {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), text);
}

it("keeps a run's small files with some trajectories of its first and last step, not its weights", async () => {
  const lines = (n: number) => Array.from({ length: n }, (_, i) => `{"id":"${i}"}\n`).join("");
  for (const step of [1, 2, 10]) put(`run/trajectories/step-${step}.jsonl`, lines(40));
  put("run/metrics.jsonl", '{"step":1}\n');
  put("run/eval/after.rows.jsonl", '{"id":"q"}\n');
  put("run/checkpoints/step-10/model.safetensors", "weights");
  put("run/stages/1-sft/metrics.jsonl", '{"step":1}\n');
  const store = openArmStore(join(folder, "store"), () => undefined);
  await store.keep(arm, join(folder, "run"));
  put("taken/half-written.txt", "of an interrupted run");
  expect(await store.take("abc", join(folder, "taken"))).toEqual(arm);
  const files = readdirSync(join(folder, "taken"), { recursive: true }).map(String).sort();
  expect(files.filter((file) => /\./.test(file))).toEqual([
    "eval/after.rows.jsonl",
    "metrics.jsonl",
    "stages/1-sft/metrics.jsonl",
    "trajectories/step-1.jsonl",
    "trajectories/step-10.jsonl",
  ]);
  const kept = readFileSync(join(folder, "taken", "trajectories", "step-10.jsonl"), "utf8");
  expect(kept).toBe(lines(16));
});

it("refuses an entry of which a file was changed, and leaves the run's folder alone", async () => {
  const notices: string[] = [];
  const store = openArmStore(join(folder, "store"), (message) => notices.push(message));
  appendFileSync(join(folder, "store", "abc", "metrics.jsonl"), '{"step":2}\n');
  put("mine/metrics.jsonl", "own");
  expect(await store.take("abc", join(folder, "mine"))).toBeNull();
  expect(readFileSync(join(folder, "mine", "metrics.jsonl"), "utf8")).toBe("own");
  expect(notices).toEqual([expect.stringMatching(/metrics\.jsonl was changed/)]);
});

it("only says so where it cannot be written", async () => {
  put("file", "no folder");
  const notices: string[] = [];
  const store = openArmStore(join(folder, "file", "store"), (message) => notices.push(message));
  await store.keep(arm, join(folder, "run"));
  expect(notices).toEqual([expect.stringMatching(/could not be written/)]);
  expect(existsSync(join(folder, "file", "store"))).toBe(false);
});

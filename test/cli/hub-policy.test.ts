import { readFileSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { trainCommand } from "../../src/cli/commands/train.ts";
import { COMMIT, hubServer, type HubServer } from "../helpers/hub-server.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { writeTinyModel } from "../helpers/tiny-model.ts";

const evalCommand = commandNamed("eval");

const folder = temporaryFolder();
const at = (name: string): string => join(folder, name);
const RECIPE = `
summary: One turn of four tokens.
base:
  environment:
    name: search-qa
  budgets:
    - { scope: trajectory, unit: turns, limit: 1, onExhausted: end }
    - { scope: turn, unit: tokens, limit: 4, onExhausted: cut }
  dataset: { name: tinyworld, people: 20 }
  evaluation:
    dataset: { name: tinyworld, split: test, people: 20, questions: 2 }
  algorithm: { name: grpo, steps: 1, promptsPerStep: 1, groupSize: 2 }
  engine: { workers: 1, slots: 2 }
  budgetCheck: false
tiers: { smoke: {} }
`;
let server: HubServer;

beforeAll(async () => {
  await writeTinyModel(at("policy"));
  writeFileSync(at("tiny.yaml"), RECIPE);
  const names = await readdir(at("policy"));
  const files = names.map((name) => [name, readFileSync(join(at("policy"), name))] as const);
  server = await hubServer("org/tiny", new Map(files));
});

beforeEach(() => {
  vi.stubEnv("HF_ENDPOINT", server.hub.url);
  vi.stubEnv("HF_HUB_CACHE", at("cache"));
  vi.stubEnv("HF_TOKEN", "hf_secret");
});

const evaluate = (...args: string[]) =>
  runCommand(evalCommand, ["eval", "--recipe", at("tiny.yaml"), ...args], `${folder}/`);

describe("a policy of the hub", () => {
  it("is downloaded once and evaluated as the folder would be", async () => {
    const recipe = ["--json"];
    const local = await evaluate("--policy", at("policy"), ...recipe);
    const first = await evaluate("--policy", "org/tiny", ...recipe);
    expect(first.stderr).toMatch(/^downloading \d+ MB\n/);
    const second = await evaluate("--policy", `org/tiny@${COMMIT}`, ...recipe);
    expect(second.stderr).not.toContain("downloading");
    const result = ({ stdout }: { stdout: string }) => {
      const { policy, timings, ...rest } = JSON.parse(stdout) as {
        policy: { from: string; sha256: string };
        timings: object;
      };
      expect(timings).toBeDefined();
      return { ...rest, sha256: policy.sha256 };
    };
    expect(result(first)).toEqual(result(local));
    expect(result(second)).toEqual(result(local));
  });

  it("is what training starts from by --model", async () => {
    const args = ["--recipe", at("tiny.yaml"), "--model", "org/tiny", "--out", at("run"), "--json"];
    const { status, stderr } = await runCommand(trainCommand, ["train", ...args], `${folder}/`);
    expect(status, stderr).toBe(0);
    const resolved = readFileSync(join(at("run"), "recipe.resolved.yaml"), "utf8");
    expect(resolved).toMatch(/from: org\/tiny +# --model/);
  });

  it("says what is wrong with a name, never with which token", async () => {
    const { status, stderr } = await evaluate("--policy", "org/tyni");
    expect(status).toBe(2);
    expect(stderr).toMatch(/^error: org\/tyni: http:.* has no such model, or it is private/);
    expect(stderr).not.toContain("hf_secret");
  });
});

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { docFiles, layDocFiles } from "../helpers/extend-doc.ts";
import { type CliRun, spawnCli } from "../helpers/run-cli.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

/** A training of a recipe of docs/extend.md. */
function train(name: string, out: string, ...flags: string[]): CliRun {
  const args = ["train", "--recipe", `./${name}.yaml`, "--tier", "smoke", "--out", out];
  return spawnCli([...args, ...flags], { cwd: folder });
}

function change(name: string, from: string, to: string): void {
  const text = docFiles.get(`${name}.mjs`) ?? "";
  expect(text).toContain(from);
  writeFileSync(join(folder, `${name}.mjs`), text.replace(from, to));
}

beforeAll(() => {
  layDocFiles(folder);
});

describe("a mistake in a plugin ends a training with status 2 and its place", () => {
  it.each([
    ["few-words", "const words =", "trajectory.nothing.trim();\nconst words ="],
    ["above-mean", "const difference =", "reward.nothing.trim();\nconst difference ="],
    ["guess-number", "const guess =", "action.nothing.trim();\nconst guess ="],
    ["count-letters", "open: () =>", "open: (context) => context.nothing.trim() ??"],
    ["soft-ratio", "const ratio =", "limit.nothing.trim();\nconst ratio ="],
  ])("%s", (name, from, to) => {
    change(name, from, to);
    const { status, stderr } = train(name, `mistake-${name}`);
    expect(stderr).toMatch(
      new RegExp(`error: .*${name}\\.mjs:\\d+:\\d+: .*trim.*\\[PLUGIN_FAILED]`),
    );
    expect(status).toBe(2);
  });
});

describe("a part that returns something else than it must ends a training with status 2", () => {
  it.each([
    ["above-mean", "return difference < 0", "return NaN; return difference < 0"],
    ["guess-number", "return { ...nothing, reward: 1, ", "return { reward: 1, "],
    ["guess-number", "return { ...nothing, observations, reply, end: null };", ""],
  ])("%s with %s changed", (name, from, to) => {
    change(name, from, to);
    const { status, stderr } = train(name, `wrong-${name}-${to.length}`);
    expect(stderr).toContain(`"${name}"`);
    expect(stderr).toContain("[PLUGIN_FAILED]");
    expect(status).toBe(2);
  });
});

describe("a run with a plugin", () => {
  it("is not resumed when a file that the plugin imports has changed", () => {
    const step = join(folder, "step-size.mjs");
    writeFileSync(step, "export const size = 1;\n");
    change("in-order", "(skip + place)", "(skip + size * place)");
    const plugin = join(folder, "in-order.mjs");
    writeFileSync(
      plugin,
      `import { size } from "./step-size.mjs";\n${readFileSync(plugin, "utf8")}`,
    );
    expect(train("in-order", "run-imports").status).toBe(0);
    writeFileSync(step, "export const size = 2;\n");
    const more = ["--resume", "--set", "algorithm.steps=3"];
    const { status, stderr } = train("in-order", "run-imports", ...more);
    expect(stderr).toContain("[RUN_DATA_CHANGED]");
    expect(status).toBe(2);
  });

  it("keeps its hash, and is not resumed when the plugin has changed", () => {
    expect(train("in-order", "run-in-order").status).toBe(0);
    const manifest = readFileSync(join(folder, "run-in-order", "manifest.json"), "utf8");
    expect(manifest).toMatch(/"plugin in-order\.mjs": "[0-9a-f]{64}"/);
    change("in-order", "(skip + place)", "(skip + 2 * place)");
    const { status, stderr } = train(
      "in-order",
      "run-in-order",
      "--resume",
      "--set",
      "algorithm.steps=3",
    );
    expect(stderr).toContain("[RUN_DATA_CHANGED]");
    expect(status).toBe(2);
  });
});

import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parquetRecords } from "../../src/data/parquet.ts";
import { resolveRecipe } from "../../src/run/settings/resolve-recipe.ts";
import { toYaml } from "../../src/run/settings/resolved-yaml.ts";
import { madeCandidate, madePair, madeTrajectory } from "../helpers/made-pairs.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const synthDataCommand = commandNamed("synth-data");

const folder = temporaryFolder();
const at = (name: string): string => join(folder, name);

const task = { id: "q", question: "?", references: ["a"], source: "made", annotations: {} };

beforeAll(async () => {
  const sample = { ...madeCandidate(madeTrajectory("s", [{ text: "<answer> a</answer>" }])), task };
  await writeFile(at("samples.jsonl"), `${JSON.stringify(sample)}\n`.repeat(3));
  const other = madeTrajectory("b", [{ text: "no" }], { prompt: "another" });
  const pairs = [madePair("p", sample.trajectory, other)];
  await writeFile(at("pairs.jsonl"), `${JSON.stringify(pairs[0])}\n`);
  await writeFile(at("recipe.resolved.yaml"), toYaml(await resolveRecipe("search-r1", {}), folder));
});

const run = (format: string, out: string, from = folder, ...more: string[]) =>
  runCommand(
    synthDataCommand,
    ["synth-data", "export", from, "--as", format, "--out", at(out), ...more],
    folder,
  );

describe("agentrl synth-data export", () => {
  it("writes a folder's samples, and says once what the layout has no place for", async () => {
    const { stdout, stderr, status } = await run("trl-messages", "x.jsonl");
    expect(status, stderr).toBe(0);
    expect(stdout).toBe("3 records → 3 rows, 1.1 kB\n/x.jsonl\n");
    expect(stderr).toBe("trl-messages has no place for: a sample's weight.\n");
    const [line = ""] = readFileSync(at("x.jsonl"), "utf8").split("\n");
    expect(JSON.parse(line)).toMatchObject({
      messages: [
        { role: "user", content: "the river " },
        { role: "assistant", content: "<answer> a</answer>" },
      ],
    });
  });

  it("counts what a layout cannot hold", async () => {
    const { stdout, stderr } = await run("trl-preference", "p.jsonl", folder, "--json");
    expect(stderr).toContain("left out 1: sides with different prompts.");
    expect(JSON.parse(stdout)).toMatchObject({ records: 1, rows: 0 });
  });

  it("does not take the place of samples, nor of what lies beside them", async () => {
    for (const [out, from] of [
      ["samples.jsonl", folder],
      ["pairs.jsonl", at("samples.jsonl")],
    ] as const) {
      const before = readFileSync(at(out), "utf8");
      const { stderr, status } = await run("trl-messages", out, from);
      expect(status).toBe(2);
      expect(stderr).toMatch(/would replace an input file of .*\[USAGE\]/);
      expect(readFileSync(at(out), "utf8")).toBe(before);
    }
  });

  it("writes what the protocol can read, names what it cannot, and ends with 3", async () => {
    const lines = readFileSync(at("samples.jsonl"), "utf8");
    const broken = madeTrajectory("broken", [{ text: "</think><answer> a</answer>" }]);
    const row = JSON.stringify({ ...madeCandidate(broken), task });
    await writeFile(at("mixed.jsonl"), `${lines}${row}\n`);
    for (const format of [
      "openai-chat",
      "trl-messages",
      "trl-prompt-completion",
      "verl",
      "sharegpt",
    ]) {
      const out = `${format}.jsonl`;
      const { stdout, stderr, status } = await run(format, out, at("mixed.jsonl"), "--json");
      expect(status).toBe(3);
      expect(JSON.parse(stdout)).toMatchObject({
        records: 4,
        rows: 3,
        malformed: { count: 1, first: [{ id: "broken", wrong: "unpaired tag" }] },
      });
      expect(stderr).toContain("EXPORT_MALFORMED");
      expect(readFileSync(at(out), "utf8")).not.toContain('"</think>');
    }
  });

  it("writes the schemas of the run's own tools", async () => {
    const own = await mkdtemp(at("calculator-"));
    const [line = ""] = readFileSync(at("samples.jsonl"), "utf8").split("\n");
    await writeFile(join(own, "samples.jsonl"), `${line}\n`);
    await writeFile(
      join(own, "recipe.resolved.yaml"),
      toYaml(await resolveRecipe("calculator", {}), folder),
    );
    await run("openai-chat", "calculator.jsonl", own);
    const { tools } = JSON.parse(readFileSync(at("calculator.jsonl"), "utf8")) as {
      tools: { function: { name: string } }[];
    };
    expect(tools.map(({ function: { name } }) => name)).toContain("calculator");
    expect(tools.map(({ function: { name } }) => name)).not.toContain("search");
  });

  it("writes Parquet where the name says so", async () => {
    const { stdout, status, stderr } = await run("verl", "v.parquet", at("mixed.jsonl"), "--json");
    expect(status, stderr).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ records: 4, rows: 3, malformed: { count: 1 } });
    const rows: object[] = [];
    for await (const row of parquetRecords(at("v.parquet"))) rows.push(row);
    expect(rows).toHaveLength(3);
    expect(rows[0]).toMatchObject({
      prompt: [{ role: "user", content: "the river " }],
      reward_model: { style: "rule", ground_truth: { target: ["a"] } },
    });
  });

  it("needs the recipe of the run beside a file", async () => {
    const alone = await mkdtemp(at("alone-"));
    const [line = ""] = readFileSync(at("samples.jsonl"), "utf8").split("\n");
    await writeFile(join(alone, "moved.jsonl"), `${line}\n`);
    const { stderr, status } = await run("verl", "m.jsonl", join(alone, "moved.jsonl"));
    expect(status).toBe(3);
    expect(stderr).toContain("FILE_MISSING");
  });

  it("leaves no file behind where a record cannot be read", async () => {
    await writeFile(at("bad.jsonl"), `${readFileSync(at("samples.jsonl"), "utf8")}{"id": 1}\n`);
    const { stderr, status } = await run("verl", "v.jsonl", at("bad.jsonl"));
    expect(status).toBe(3);
    expect(stderr).toContain("bad.jsonl:4");
    expect(existsSync(at("v.jsonl"))).toBe(false);
  });
});

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { dataCommand } from "../../src/cli/commands/data.ts";
import { evalCommand } from "../../src/cli/commands/eval.ts";
import { refuseOwnInput } from "../../src/cli/refuse-own-input.ts";
import { errorWith } from "../helpers/error-with.ts";
import { runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const at = (...names: string[]): string => join(folder, ...names);
const ROW = '{"id":"1","question":"?","references":["x"],"answer":"x","em":1,"f1":1}\n';

beforeAll(() => {
  for (const run of ["a", "b"]) {
    mkdirSync(at(run));
    writeFileSync(at(run, "rows.jsonl"), ROW);
  }
  writeFileSync(at("q.jsonl"), '{"id":"1","question":"?","answer":"x"}\n');
  symlinkSync(at("q.jsonl"), at("link.jsonl"));
});

describe("refuseOwnInput", () => {
  it("refuses the file that is read, by any name, and what was measured in a folder that is", () => {
    const refused = errorWith("USAGE", "would replace an input file of");
    for (const [out, input] of [
      [at("q.jsonl"), at("link.jsonl")],
      [at("a", "..", "q.jsonl"), at("q.jsonl")],
      [at("b", "rows.jsonl"), at("b")],
    ] as const) {
      expect(() => {
        refuseOwnInput(out, [at("a"), input], "--out");
      }).toThrow(refused);
    }
  });

  it("lets every other file be written", () => {
    writeFileSync(at("a", "report.html"), "");
    for (const out of [at("new.jsonl"), at("a", "report.html"), at("b", "rows.jsonl")]) {
      expect(() => {
        refuseOwnInput(out, [at("a"), at("q.jsonl")], "--out");
      }).not.toThrow();
    }
  });
});

describe("commands", () => {
  it("keep what they read: eval compare its runs, data convert its input", async () => {
    const rows = at("b", "rows.jsonl");
    const compared = await runCommand(
      evalCommand,
      ["eval", "compare", at("a"), at("b"), "--changed", rows],
      `${folder}/`,
    );
    expect(compared).toMatchObject({ status: 2, stdout: "" });
    expect(readFileSync(rows, "utf8")).toBe(ROW);
    const args = ["data", "convert", at("q.jsonl"), at("link.jsonl"), "--to", "trl"];
    expect(await runCommand(dataCommand, args, `${folder}/`)).toMatchObject({ status: 2 });
    expect(readFileSync(at("q.jsonl"), "utf8")).toContain('"answer":"x"');
  });
});

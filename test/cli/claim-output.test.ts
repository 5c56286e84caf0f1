import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { scoreCommand } from "../../src/cli/commands/score.ts";
import {
  claimOutput,
  claimWriting,
  refuseOwnInput,
  withClaims,
} from "../../src/cli/claim-output.ts";
import { errorWith } from "../helpers/error-with.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const dataCommand = commandNamed("data");
const evalCommand = commandNamed("eval");

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

describe("claimOutput", () => {
  it("refuses a file that exists, unless --overwrite is given; a device is never replaced", () => {
    expect(() => {
      claimOutput(at("q.jsonl"), undefined);
    }).toThrow(errorWith("OUTPUT_EXISTS", at("q.jsonl")));
    for (const [path, overwrite] of [
      [at("q.jsonl"), true],
      [at("absent.jsonl"), undefined],
      // The writer reports a file in the place of a folder.
      [at("q.jsonl", "below.jsonl"), undefined],
      ["/dev/null", undefined],
    ] as const) {
      expect(() => {
        claimOutput(path, overwrite);
      }).not.toThrow();
    }
  });

  it("guards every command that writes one file: the user's file stays, byte for byte", async () => {
    const mine = at("corpus.jsonl");
    const kept = '{"id":"p1","text":"My corpus."}\n';
    const answers = at("answers.jsonl");
    writeFileSync(answers, '{"id":"1","prediction":"x","references":["x"]}\n');
    const commands = [
      [dataCommand, ["data", "convert", at("q.jsonl"), mine, "--to", "trl"]],
      [dataCommand, ["data", "generate", "tinyworld", "--out", folder, "--people", "40"]],
      [scoreCommand, ["score", "--predictions", answers, "--out", mine]],
      [evalCommand, ["eval", "report", at("a"), "--format", "md", "--out", mine]],
      [evalCommand, ["eval", "compare", at("a"), at("b"), "--changed", mine]],
    ] as const;
    for (const [command, args] of commands) {
      writeFileSync(mine, kept);
      const refused = await runCommand(command, args, `${folder}/`);
      expect(refused, args.join(" ")).toMatchObject({ status: 2, stdout: "" });
      expect(refused.stderr).toContain("corpus.jsonl: already exists");
      expect(refused.stderr).toContain("[OUTPUT_EXISTS]");
      expect(readFileSync(mine, "utf8")).toBe(kept);
    }
    const [, convert] = commands[0];
    expect(await runCommand(dataCommand, [...convert, "--overwrite"])).toMatchObject({ status: 0 });
    expect(readFileSync(mine, "utf8")).not.toBe(kept);
  });
});

describe("claimWriting", () => {
  const busy = errorWith("OUTPUT_BUSY", `process ${process.pid} on `);

  it("refuses a second command, by any name of the path, until the first one ends", async () => {
    const second = (path: string): Promise<void> =>
      withClaims(() => {
        claimWriting(path);
        return Promise.resolve();
      });
    await withClaims(async () => {
      claimWriting(at("deep", "new"));
      claimWriting(at("q.jsonl"));
      claimWriting(at("q.jsonl"));
      await expect(second(at("deep", "..", "deep", "new", "."))).rejects.toThrow(busy);
      await expect(second(at("link.jsonl"))).rejects.toThrow(busy);
      await second(at("deep", "other"));
    });
    await second(at("q.jsonl"));
    // A command that writes nothing leaves nothing.
    expect(existsSync(at("deep"))).toBe(false);
  });
});

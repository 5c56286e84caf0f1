import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeResults } from "../helpers/report-folder.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const evalCommand = commandNamed("eval");

const folder = temporaryFolder();
const run = (...args: string[]) => runCommand(evalCommand, ["eval", ...args]);
const rows = ["a", "b"].map((id, i) => ({ id, question: `Where is ${id}?`, em: i }));
const place = writeResults(join(folder, "made"), rows);

describe("agentrl eval report", () => {
  it("prints Markdown, or the rows in a format that is named", async () => {
    const { stdout, status } = await run("report", place);
    expect(status).toBe(0);
    expect(stdout).toContain("| all | 2 | 0.500 | 0.100 … 0.900 |");
    const csv = (await run("report", place, "--format", "csv")).stdout;
    expect(csv.split("\r\n")).toHaveLength(4);
  });

  it("writes the page that --out's ending names, and says what it could not find", async () => {
    const out = join(folder, "report.html");
    const { stdout, stderr, status } = await run("report", place, "--out", out);
    expect([status, stdout]).toEqual([0, ""]);
    expect(stderr).toContain("made: Gold passages are not marked");
    expect(stderr).toContain(`written to ${out}`);
    expect(readFileSync(out, "utf8")).toMatch(/^<!doctype html>.*<\/html>\n$/s);
  });

  it("exports for lm-eval into a folder, and asks for one", async () => {
    const [out, flags] = [join(folder, "lm"), ["--format", "lm-eval"]];
    const { stdout } = await run("report", place, ...flags, "--out", out);
    expect(stdout.trim().split("\n")).toHaveLength(2);
    const refused = await run("report", place, ...flags);
    expect([refused.status, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toContain("--out FOLDER");
  });

  it("refuses flags that a format would pass over", async () => {
    const { status, stderr } = await run("report", place, "--tokenizer", folder);
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining("--tokenizer would have no effect: it belongs to --format html"),
    ]);
  });

  it("refuses an ending that tells no format, unless one is named", async () => {
    const out = join(folder, "report.pdf");
    const { status, stderr } = await run("report", place, "--out", out);
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining("no format has the ending .pdf. Known: .json, .jsonl, .csv, .md"),
    ]);
    expect(existsSync(out)).toBe(false);
    expect((await run("report", place, "--out", out, "--format", "csv")).status).toBe(0);
    expect(readFileSync(out, "utf8")).toContain("question");
  });

  it("refuses what is no evaluation", async () => {
    const { status, stderr } = await run("report", join(folder, "nowhere"));
    expect([status, stderr]).toEqual([3, expect.stringContaining("nowhere: cannot be read")]);
  });
});

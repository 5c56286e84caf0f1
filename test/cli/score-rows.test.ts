import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scoreCommand } from "../../src/cli/commands/score.ts";
import type { EvaluationRow } from "../../src/evaluate/evaluation-row.ts";
import { summarizeRows } from "../../src/evaluate/evaluation-summary.ts";
import { madeRow } from "../helpers/evaluation-rows.ts";
import { runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const cwd = temporaryFolder();
const score = (...args: string[]) => runCommand(scoreCommand, ["score", ...args], `${cwd}/`);

function write(name: string, rows: readonly object[]): string {
  const path = join(cwd, name);
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return path;
}

const searched = { searches: 1, queries: ["x?"] };
const error = { boundary: "model", code: "HTTP_TIMEOUT", message: "late" };
const ROWS: EvaluationRow[] = [
  madeRow("a", 1, { ...searched, hops: 2 }),
  madeRow("b", 0, searched),
  madeRow("c", 0),
  madeRow("d", 0, { error, end: "model-error" }),
];

describe("agentrl score --rows", () => {
  it("gives the evaluation's own figures again", async () => {
    const { stdout, stderr, status } = await score("--rows", write("r.jsonl", ROWS), "--json");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const summary = JSON.parse(stdout) as unknown;
    expect(summary).toEqual(JSON.parse(JSON.stringify(summarizeRows(ROWS, { seed: 0 }))));
  });

  it("judges searches by a run that could not search and one that had to", async () => {
    const rows = write("free.jsonl", ROWS);
    const unaided = write("unaided.jsonl", [madeRow("a", 1), madeRow("b", 1), madeRow("z", 1)]);
    const forced = write("forced.jsonl", [madeRow("c", 1, searched), madeRow("a", 0, { error })]);
    const others = ["--unaided-rows", unaided, "--forced-rows", forced];
    const { stdout } = await score("--rows", rows, ...others, "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      searchNeed: {
        over_search_rate: { n: 2, share: 0.5 },
        right_unaided_rate: { n: 2, share: 1 },
        search_hurt_rate: { n: 2, share: 0.5 },
        under_search_rate: { n: 1, share: 1 },
        search_missed_rate: { n: 1, share: 1 },
      },
    });
    const text = (await score("--rows", rows, ...others)).stdout;
    expect(text).toContain("over_search_rate    0.5000      2");
  });

  it("prints a table for people and gates by --require", async () => {
    const rows = write("t.jsonl", ROWS);
    const { stdout, status } = await score("--rows", rows, "--require", "em>=0.5", "--quiet");
    expect(status).toBe(5);
    expect(stdout).toMatch(/^em +0\.3333 +3 +0\.0615 … 0\.7923$/m);
    expect(stdout).toMatch(/^answer_rate +1\.0000 +3$/m);
    // A metric that not every question has.
    expect(stdout).toMatch(/^under_search_rate +1\.0000 +1$/m);
    expect(stdout).toContain(
      "with failures counted as wrong, over 4 questions: EM 0.250, F1 0.250",
    );
    const unknown = await score("--rows", rows, "--require", "evidence_recall>=0.5");
    expect(unknown.status).toBe(6);
  });

  it("names the line and key of what is no row, and refuses empty files and other questions", async () => {
    const old = write("old.jsonl", [{ ...ROWS[0], queries: undefined }]);
    const { status, stderr } = await score("--rows", old);
    expect(status).toBe(3);
    expect(stderr).toContain("old.jsonl:1: queries is missing");
    expect((await score("--rows", write("none.jsonl", []))).stderr).toContain("PREDICTIONS_EMPTY");
    const rows = write("one.jsonl", ROWS.slice(0, 1));
    const other = await score(
      "--rows",
      rows,
      "--unaided-rows",
      write("o.jsonl", [madeRow("z", 1)]),
    );
    expect(other.stderr).toContain("o.jsonl: has none of the questions of");
  });

  it("takes either rows or predictions", async () => {
    expect((await score()).status).toBe(2);
    expect((await score("--rows", "a", "--predictions", "b")).stderr).toContain("needs either");
  });

  it("refuses flags that it would pass over", async () => {
    const metrics = await score("--rows", "a", "--metrics", "em", "--prediction-field", "p");
    expect(metrics.status).toBe(2);
    expect(metrics.stderr).toContain(
      "--prediction-field, --metrics would have no effect: they belong to --predictions.",
    );
    const rows = await score("--predictions", "a", "--unaided-rows", "b");
    expect(rows.stderr).toContain("--unaided-rows would have no effect: it belongs to --rows.");
  });
});

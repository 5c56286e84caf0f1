import { expect, it } from "vitest";
import { runCli } from "../helpers/run-cli.ts";

it("reads a data file named - from stdin, also twice", async () => {
  const input = '{"id":"1","prediction":"x","references":["x"]}\n';
  const scored = await runCli(["score", "--predictions", "-", "--json"], { input });
  expect(scored).toMatchObject({ status: 0, stderr: "" });
  expect(JSON.parse(scored.stdout)).toMatchObject({ n: 1, metrics: { em: 1 } });
  const question = '[{"id":"1","question":"who?","answer":"x"}]';
  const checked = await runCli(["data", "check", "-"], { input: question });
  expect(checked).toMatchObject({
    status: 0,
    stdout: expect.stringContaining("records 1") as string,
  });
});

it("reads a table from stdin, with any separator", async () => {
  for (const separator of [",", ";", "\t"]) {
    const rows = [
      ["qid", "question", "answer"],
      ["7", "who?", "x"],
    ];
    const input = rows.map((row) => `${row.join(separator)}\n`).join("");
    const { status, stdout } = await runCli(["data", "check", "-", "--json"], { input });
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ kind: "questions", records: 1, problems: [] });
  }
});

it("names an empty file of trajectories, instead of finding no violation in it", async () => {
  expect(await runCli(["trace", "lint", "-"])).toMatchObject({
    status: 3,
    stdout: "",
    stderr: expect.stringContaining("[DATA_EMPTY]") as string,
  });
});

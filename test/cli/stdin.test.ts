import { expect, it } from "vitest";
import { runCli } from "../helpers/run-cli.ts";

it("reads a data file named - from stdin, also twice", () => {
  const input = '{"id":"1","prediction":"x","references":["x"]}\n';
  const scored = runCli(["score", "--predictions", "-", "--json"], { input });
  expect(scored).toMatchObject({ status: 0, stderr: "" });
  expect(JSON.parse(scored.stdout)).toMatchObject({ n: 1, metrics: { em: 1 } });
  const question = '[{"id":"1","question":"who?","answer":"x"}]';
  const checked = runCli(["data", "check", "-"], { input: question });
  expect(checked).toMatchObject({
    status: 0,
    stdout: expect.stringContaining("records 1") as string,
  });
});

it("names an empty file of trajectories, instead of finding no violation in it", () => {
  expect(runCli(["trace", "lint", "-"])).toMatchObject({
    ...{ status: 3, stdout: "", stderr: expect.stringContaining("[DATA_EMPTY]") as string },
  });
});

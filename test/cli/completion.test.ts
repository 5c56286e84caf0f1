import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { runCli } from "../helpers/run-cli.ts";

const completed = (...words: string[]): string[] =>
  runCli(["complete", "--", ...words])
    .stdout.split("\n")
    .map((line) => line.split("\t", 1).join(""));

it("completes commands, options, their choices and recipe names", () => {
  expect(completed("tra")).toEqual(expect.arrayContaining(["train", "trace"]));
  expect(completed("train", "--re")).toContain("--resume");
  expect(completed("data", "convert", "--to", "")).toEqual(expect.arrayContaining(["verl", "trl"]));
  expect(completed("train", "--recipe", "")).toContain("search-r1");
  expect(completed("recipes", "show", "")).toContain("search-r1");
});

it("prints a script that bash accepts", () => {
  const { stdout, status } = runCli(["completion", "bash"]);
  expect(status).toBe(0);
  expect(spawnSync("bash", ["-n"], { input: stdout, encoding: "utf8" })).toMatchObject({
    status: 0,
    stderr: "",
  });
});

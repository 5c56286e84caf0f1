import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { runCli } from "../helpers/run-cli.ts";

const completed = async (...words: string[]): Promise<string[]> => {
  const { stdout } = await runCli(["complete", "--", ...words]);
  return stdout.split("\n").map((line) => line.split("\t", 1).join(""));
};

it("completes commands, options, their choices and recipe names", async () => {
  expect(await completed("tra")).toEqual(expect.arrayContaining(["train", "trace"]));
  expect(await completed("train", "--re")).toContain("--resume");
  expect(await completed("data", "convert", "--to", "")).toEqual(
    expect.arrayContaining(["verl", "trl"]),
  );
  expect(await completed("train", "--recipe", "")).toContain("search-r1");
  expect(await completed("recipes", "show", "")).toContain("search-r1");
});

it("prints a script that bash accepts", async () => {
  const { stdout, status } = await runCli(["completion", "bash"]);
  expect(status).toBe(0);
  expect(spawnSync("bash", ["-n"], { input: stdout, encoding: "utf8" })).toMatchObject({
    status: 0,
    stderr: "",
  });
});

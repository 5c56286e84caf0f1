import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect } from "vitest";
import { runCli, spawnCli } from "./run-cli.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const line = (row: object): string => `${JSON.stringify(row)}\n`;

/** A run of the program and its exit status. */
export interface ComparedRun {
  line: string;
  status: number;
  input?: string;
}

/** A check that a process prints and ends as the same run in this process does. In its folder are answers.jsonl, qa.jsonl and corpus.jsonl. */
export function compareWithProcess(): (run: ComparedRun) => Promise<void> {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, "answers.jsonl"), line({ id: "1", prediction: "x", references: ["y"] }));
  writeFileSync(join(cwd, "qa.jsonl"), line({ id: "1", question: "Who?", answer: "x" }));
  writeFileSync(join(cwd, "corpus.jsonl"), line({ id: "p1", text: "Bela taught Ada." }));
  // Commands to copy are written as the shell finds the program.
  mkdirSync(join(cwd, "bin"));
  writeFileSync(join(cwd, "bin", "agentrl"), "");
  const PATH = `${join(cwd, "bin")}${delimiter}${process.env["PATH"] ?? ""}`;
  return async ({ line: words, status, input }) => {
    const args = words.split(" ").filter((word) => word !== "");
    const options = { cwd, env: { PATH }, input };
    const real = spawnCli(args, options);
    const { exitCode } = process;
    expect(await runCli(args, options)).toEqual(real);
    expect([real.status, process.exitCode]).toEqual([status, exitCode]);
  };
}

import { expect, it } from "vitest";
import { commandGroups } from "../../src/cli/commands/index.ts";
import { type ComparedRun, compareWithProcess } from "../helpers/compare-with-process.ts";

const compare = compareWithProcess();

/** Each command of the program once, as short as it can be. */
const RUNS: readonly ComparedRun[] = [
  { line: "--help", status: 0 },
  { line: "--version", status: 0 },
  { line: "recipes", status: 2 },
  { line: "recipes list search-r1", status: 0 },
  { line: "recipes show search-r1 --tier smoke --json", status: 0 },
  { line: "completion bash", status: 0 },
  { line: "init --questions qa.jsonl --passages corpus.jsonl", status: 2 },
  { line: "data check qa.jsonl", status: 0 },
  { line: "models convert nowhere.gguf --out model", status: 3 },
  { line: "index search nowhere Ada", status: 3 },
  { line: "serve --index nowhere", status: 3 },
  { line: "synth-data --dataset nowhere.jsonl", status: 2 },
  { line: "train --recipe serch-r1", status: 2 },
  { line: "resume nowhere", status: 2 },
  { line: "sft --recipe search-r1 --tier smoke --data nowhere --out run", status: 3 },
  { line: "dpo --recipe search-r1 --tier smoke --data nowhere --out run", status: 3 },
  { line: "eval --policy nowhere/model --limit 1", status: 4 },
  { line: "ask", status: 2 },
  { line: "score --predictions answers.jsonl --json", status: 0 },
  { line: "judge run answers.jsonl", status: 2 },
  { line: "reward check --reward token-f2", status: 2 },
  { line: "runs show nowhere", status: 3 },
  { line: "report nowhere", status: 3 },
  { line: "trace lint -", status: 3 },
  { line: "reproduce serch-r1", status: 2 },
  { line: "new rewrd few-words", status: 2 },
  { line: "doctor now", status: 2 },
  { line: "play --recipe serch-r1", status: 2 },
];

it.each(RUNS)("agentrl $line: a process prints and ends as a run in this process", compare);

it("has every command", () => {
  const names = commandGroups.flatMap(({ commands }) => commands.map(({ name }) => name));
  const run = new Set(RUNS.map(({ line }) => line.split(" ")[0]));
  expect(names.filter((name) => !run.has(name))).toEqual([]);
});

import { it } from "vitest";
import { type ComparedRun, compareWithProcess } from "../helpers/compare-with-process.ts";

const compare = compareWithProcess();

/** Each exit status that needs no signal; real-process.slow.test.ts has every command. */
const RUNS: readonly ComparedRun[] = [
  { line: "", status: 0 },
  { line: "docter --help", status: 2 },
  { line: "doctor --jsn --json", status: 2 },
  { line: "data check - --json", status: 0, input: '[{"id":"1","question":"Who?","answer":"x"}]' },
  { line: "data check nowhere.jsonl --json", status: 3 },
  { line: "score --predictions answers.jsonl --require em>=0.5 --json", status: 5 },
  { line: "score --predictions answers.jsonl --out /dev/full", status: 4 },
];

it.each(RUNS)("agentrl $line: a process prints and ends as a run in this process", compare);

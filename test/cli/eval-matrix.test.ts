import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { matrixCells } from "../../src/cli/commands/eval.ts";
import { chatServer } from "../helpers/chat-server.ts";
import { errorWith } from "../helpers/error-with.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const evalCommand = commandNamed("eval");

const folder = temporaryFolder();
const at = (name: string): string => join(folder, name);
for (const [name, count] of [
  ["a", 1],
  ["b", 2],
] as const) {
  const record = (i: number): object => ({
    _id: `${name}${i}`,
    question: `Which is ${i}?`,
    answer: `Town ${i}`,
    context: [["Towns", ["Town 0, Town 1."]]],
  });
  const lines = Array.from({ length: count }, (_, i) => `${JSON.stringify(record(i))}\n`);
  writeFileSync(at(`${name}.jsonl`), lines.join(""));
}

describe("agentrl eval of several policies and datasets", () => {
  it("shows every policy on every dataset with the mean over datasets, and --resume asks nothing twice", async () => {
    // The small model always answers with the first town: right for one of one, and one of two questions.
    const server = await chatServer((asked) =>
      (asked as { model?: string }).model === "large"
        ? "<answer>no</answer>"
        : "<answer>Town 0</answer>",
    );
    const evaluate = (...more: string[]) =>
      runCommand(
        evalCommand,
        [
          ...["eval", "--policy", `${server.url}/v1`, "--model", "small,large"],
          ...["--dataset", `${at("a.jsonl")},${at("b.jsonl")}`, "--out", at("out"), ...more],
        ],
        `${folder}/`,
      );
    const { stdout, status } = await evaluate("--json");
    expect(status).toBe(0);
    const { matrix, cells } = JSON.parse(stdout) as { matrix: unknown; cells: unknown[] };
    const host = server.url.replace("http://", "");
    expect(cells).toHaveLength(4);
    expect(matrix).toMatchObject([
      {
        policy: `small @ ${host}`,
        datasets: { "a.jsonl": { n: 1, em: 1 }, "b.jsonl": { n: 2, em: 0.5 } },
        average: { em: 0.75 },
      },
      { policy: `large @ ${host}`, average: { em: 0 } },
    ]);
    expect(server.received).toHaveLength(6);
    const again = await evaluate("--resume");
    expect(again.status).toBe(0);
    expect(server.received).toHaveLength(6);
    expect(again.stdout).toMatch(/small @ .* 1\.000 .* 0\.500 .* 0\.750/);
    const markdown = await evaluate("--resume", "--format", "md");
    expect(markdown.stdout).toMatch(/\| small @ .*0\.750/);
  });

  it("keeps one folder per cell, and takes a file with a comma in its name for one file", () => {
    writeFileSync(at("c,d.jsonl"), "");
    expect(matrixCells({ dataset: at("c,d.jsonl") })).toHaveLength(1);
    const folders = matrixCells({ policy: "p,q", dataset: "nq,hotpotqa" }).map(
      (cell) => cell.folder,
    );
    expect(folders).toEqual(["p/nq", "p/hotpotqa", "q/nq", "q/hotpotqa"]);
    expect(() => matrixCells({ dataset: "nq,,hotpotqa" })).toThrow(errorWith("USAGE", "empty"));
    expect(() => matrixCells({ dataset: "nq,nq" })).toThrow(errorWith("USAGE", "twice"));
    expect(existsSync(at("out"))).toBe(true);
  });
});

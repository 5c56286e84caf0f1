import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { commandGroups } from "../../src/cli/commands/index.ts";
import { runCli } from "../helpers/run-cli.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const errorOf = async (...args: string[]): Promise<string> => {
  const { stdout, stderr, status } = await runCli(args);
  expect({ stdout, status }, args.join(" ")).toEqual({ stdout: "", status: 2 });
  expect(stderr).toContain("[USAGE]");
  return stderr;
};

/** Every option of the program, with the command that has it. */
async function allOptions(): Promise<{ command: string; flags: string; description: string }[]> {
  const program = new Command("agentrl");
  const context = {
    call: "agentrl",
    out: () => undefined,
    document: () => undefined,
    note: () => undefined,
    terminal: false,
    signal: new AbortController().signal,
    untilStopped: () => Promise.resolve(),
  };
  for (const { commands } of commandGroups)
    for (const command of commands) await command.register(program, context);
  const walk = (command: Command): Command[] => [command, ...command.commands.flatMap(walk)];
  return walk(program).flatMap((command) => {
    const path = command.parent?.parent == null ? "" : `${command.parent.name()} `;
    return command.options.map(({ flags, description }) => ({
      command: `${path}${command.name()}`,
      flags,
      description,
    }));
  });
}

describe("a mistake on the command line", () => {
  it("names the misspelt option before the missing one", async () => {
    expect(await errorOf("train", "--recipie", "search-r1")).toMatch(
      /'--recipie'.*Did you mean --recipe\?/,
    );
    expect(await errorOf("judge", "run", "answers.jsonl")).toContain(
      "Did you mean --predictions answers.jsonl?",
    );
  });

  it("names the nearest of the values that an option or argument allows", async () => {
    expect(await errorOf("data", "generate", "tinywrld", "--out", "x")).toContain(
      `Did you mean "tinyworld"?`,
    );
    expect(await errorOf("data", "convert", "a", "b", "--to", "verll")).toContain(
      `Did you mean "verl"?`,
    );
  });

  it("is an option that is given twice, where one value counts", async () => {
    expect(await errorOf("train", "--recipe", "a", "--seed", "1", "--seed", "2")).toContain(
      "--seed is given twice",
    );
  });

  it("is a list that is given as several options: it must be comma-separated", async () => {
    for (const list of ["--dataset", "--policy", "--model"])
      expect(await errorOf("eval", list, "a", list, "b")).toContain("commas");
    expect(await errorOf("eval", "--seed", "1", "--seed", "2")).not.toContain("commas");
  });

  it("is no option whose help says that it is repeatable", async () => {
    const repeatable = (await allOptions()).filter(({ description }) =>
      description.includes("repeatable"),
    );
    expect(repeatable.length).toBeGreaterThan(10);
    for (const { command, flags } of repeatable) {
      const [flag = ""] = flags.split(" ");
      const args = [...command.split(" "), flag, "a=1", flag, "b=2", "--no-such-option"];
      expect(await errorOf(...args)).toContain("'--no-such-option'");
    }
  });
});

describe("--json", () => {
  const answered = async (...args: string[]) => {
    const { stdout, stderr, status } = await runCli(args);
    return { error: JSON.parse(stdout) as unknown, stderr, status };
  };

  it("answers a failure with one document on stdout; stderr and the exit status stay", async () => {
    const usage = await answered("doctor", "--jsn", "--json");
    expect(usage).toMatchObject({ status: 2, error: { error: { code: "USAGE" } } });
    expect(usage.error).toHaveProperty(
      "error.do",
      "Did you mean --json? See `agentrl doctor --help`.",
    );
    expect(usage.stderr).toContain("[USAGE]");
    const missing = await answered("data", "check", "nowhere.jsonl", "--json");
    expect(missing).toMatchObject({
      status: 3,
      error: { error: { code: "FILE_MISSING", where: "nowhere.jsonl" } },
    });
  });

  it("adds no second document to a result that fails a condition", async () => {
    const answers = join(temporaryFolder(), "answers.jsonl");
    writeFileSync(answers, '{"id":"1","prediction":"x","references":["y"]}\n');
    const { stdout, stderr, status } = await runCli([
      "score",
      "--predictions",
      answers,
      "--require",
      "em>=0.5",
      "--json",
    ]);
    expect({ status, result: JSON.parse(stdout) as unknown }).toMatchObject({
      status: 5,
      result: { n: 1, metrics: { em: 0 } },
    });
    expect(stderr).toContain("[SCORE_MISSED]");
  });
});

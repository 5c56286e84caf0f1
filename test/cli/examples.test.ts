import { Command } from "commander";
import { describe, expect, it } from "vitest";
import type { CliContext } from "../../src/cli/command.ts";
import { commandGroups } from "../../src/cli/commands/index.ts";
import { EXAMPLES } from "../../src/cli/examples.ts";
import { runCli } from "../helpers/run-cli.ts";

const context: CliContext = {
  call: "agentrl",
  out: () => undefined,
  document: () => undefined,
  note: () => undefined,
  terminal: false,
  signal: new AbortController().signal,
  untilStopped: () => Promise.resolve(),
};

/** Every command that does something, by its path, which writes down its call instead. */
async function commands(called: string[]): Promise<Map<string, Command>> {
  const program = new Command("agentrl");
  for (const group of commandGroups)
    for (const command of group.commands) await command.register(program, context);
  const found = new Map<string, Command>();
  const visit = (command: Command, path: readonly string[]): void => {
    command.exitOverride().configureOutput({ writeErr: () => undefined });
    for (const child of command.createHelp().visibleCommands(command))
      if (child.name() !== "help") visit(child, [...path, child.name()]);
    // Some groups do something themselves: `serve`.
    if ((Reflect.get(command, "_actionHandler") ?? null) === null) return;
    command.action(() => {
      called.push(path.join(" "));
    });
    found.set(path.join(" "), program);
  };
  visit(program, []);
  return found;
}

/** A command line as a shell splits it. */
function words(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "");
}

describe("the examples of commands", () => {
  it("are there for every command, and for no other", async () => {
    expect(Object.keys(EXAMPLES).sort()).toEqual([...(await commands([])).keys()].sort());
  });

  it.each(Object.entries(EXAMPLES).flatMap(([path, two]) => two.map((rest) => [path, rest])))(
    "agentrl %s %s",
    async (path = "", rest = "") => {
      const called: string[] = [];
      const program = (await commands(called)).get(path);
      await program?.parseAsync([...path.split(" "), ...words(rest)], { from: "user" });
      expect(called).toEqual([path]);
    },
  );
});

describe("the help of every command", () => {
  it.each(Object.keys(EXAMPLES))(
    "agentrl %s: says what it and all its options and arguments do, and ends with two examples",
    async (path) => {
      const names = path.split(" ");
      const program = (await commands([])).get(path);
      const found = names.reduce(
        (above, name) => above?.commands.find((each) => each.name() === name),
        program,
      );
      const shown = found?.options.filter(({ hidden }) => !hidden) ?? [];
      const texts = [...shown, ...(found?.registeredArguments ?? [])];
      expect(found?.description()).toMatch(/\w/);
      expect(texts.filter(({ description }) => !/\w/.test(description))).toEqual([]);
      const { stdout, status } = await runCli([...names, "--help"]);
      expect(status).toBe(0);
      const examples = stdout.slice(stdout.indexOf("Examples:\n")).match(/^ {2}agentrl .+$/gm);
      expect(examples).toHaveLength(2);
    },
  );
});

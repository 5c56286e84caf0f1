import type { Command } from "commander";
import { renderText } from "../base/table.ts";

/** What `agentrl` and `agentrl --help` show: first steps, then every command by purpose, on one screen. */
export function rootHelp(program: Command, call: string): string {
  const titles = [...new Set(program.commands.map((command) => command.helpGroup()))];
  const groups = titles.map((title): [string, string[][]] => [
    title,
    program.commands
      .filter((command) => command.helpGroup() === title)
      .map((command) => [command.name(), command.summary()]),
  ]);
  const sections: [string, string[][]][] = [
    ["Start", START.map(([command = "", text = ""]) => [`${call} ${command}`, text])],
    ...groups,
    ["Options of most commands", MOST],
  ];
  // One first column for the whole page; the longer command lines of "Start" have their own.
  const width = Math.max(
    ...sections.slice(1).flatMap(([, rows]) => rows.map(([name = ""]) => name.length)),
  );
  const pages = sections.map(([title, rows]) => {
    const padded = rows.map(([name = "", text = ""]) => [name.padEnd(width), text]);
    return `${title}\n${renderText({ rows: padded }, 2)}`;
  });
  return [
    `agentrl ${program.version() ?? ""}: ${program.description()}`,
    ...pages,
    `\`${call} COMMAND --help\` explains one command.\n`,
  ].join("\n\n");
}

const START = [
  ["train search-r1", "train a search agent here, in minutes"],
  ["ask --policy RUN", "ask the policy of a run questions"],
  ["init", "set up your own questions and passages"],
  ["recipes list", "the published methods that are included"],
];

const MOST = [
  ["--seed N", "same seed, same result"],
  ["--out PATH", "where to write; --overwrite replaces what is there"],
  ["-", "as a data file: stdin"],
  ["--json", "result or error as one JSON document on stdout"],
  ["--quiet", "results and errors only"],
  ["--debug", "show where an error comes from"],
];

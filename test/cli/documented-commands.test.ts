import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ERROR_CODES } from "../../src/base/errors.ts";
import { packageRoot } from "../../src/base/package-root.ts";

const docs = join(packageRoot, "docs");

/** Every command of the generated docs/cli.md with its options. */
const commands = new Map(
  readFileSync(join(docs, "cli.md"), "utf8")
    .split(/^## agentrl ?/m)
    .slice(1)
    .map((section) => {
      const name = section.slice(0, section.indexOf("\n")).trim();
      const flags = [...section.matchAll(/^\| `(.+?)` \|/gm)].flatMap(([, text = ""]) =>
        text.match(/(?<![\w-])--?[\w-]+/g),
      );
      return [name, new Set([...flags, "--quiet", "--debug", "--help", "--version"])] as const;
    }),
);

/** Pages of a history, whose commands were those of their day. */
const PAST = new Set(["lab-log.md", "atlas.md", "cli.md"]);

const pages = [
  ...readdirSync(docs)
    .filter((name) => name.endsWith(".md") && !PAST.has(name))
    .map((name) => join("docs", name)),
  "README.md",
];

/** Commands of a page: lines of code blocks, and code within a line. */
function commandsOf(page: string): string[] {
  const text = readFileSync(join(packageRoot, page), "utf8").replaceAll("\\\n", " ");
  const blocks = [...text.matchAll(/```\w*\n([^]*?)```/g)].flatMap(([, block = ""]) =>
    block.split("\n"),
  );
  const inline = [...text.matchAll(/`(agentrl [^`\n]+)`/g)].map(([, code = ""]) => code);
  return [...blocks, ...inline].flatMap((line) => {
    const words = /^\s*(?:[A-Z_]+=\S+ )*(?:npx )?agentrl (.*)$/.exec(line)?.[1];
    return words === undefined ? [] : words.split(/ (?:&&|\||#) | &$/).slice(0, 1);
  });
}

/** Subcommands that stand for their group. */
const DEFAULTS: Record<string, string> = { eval: "policy", "synth-data": "draw" };

/** What a command names that the program lacks; null: nothing. */
function problemOf(command: string): string | null {
  // Values in quotes may look like options.
  const words = command
    .replaceAll(/'[^']*'|"[^"]*"/g, "VALUE")
    .split(/\s+/)
    .filter(Boolean);
  const given = [3, 2, 1].map((n) => words.slice(0, n).join(" "));
  const name = [...given, `${words[0]} ${DEFAULTS[words[0]!]}`].find((each) => commands.has(each));
  if (name === undefined) {
    const isGroup = [...commands.keys()].some((each) => each.startsWith(`${words[0]} `));
    return isGroup && words.length === 1 ? null : `no command "${words.join(" ")}"`;
  }
  const flags = words.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.split("=")[0]!);
  const unknown = flags.filter((flag) => commands.get(name)?.has(flag) !== true);
  return unknown.length === 0 ? null : `agentrl ${name} has no ${unknown.join(", ")}`;
}

describe("commands on the pages", () => {
  it.each(pages)("%s: exist, with all their options", (page) => {
    const wrong = commandsOf(page).map((command) => problemOf(command));
    expect(wrong.filter((each) => each !== null)).toEqual([]);
  });

  it("are many", () => {
    expect(commands.size).toBeGreaterThan(30);
    expect(pages.flatMap((page) => commandsOf(page)).length).toBeGreaterThan(120);
  });
});

describe("error codes on the pages", () => {
  /** Variables have the form of codes. */
  const VARIABLE =
    /^(AGENTRL|HF|HTTPS?|ALL|NO|PIP|UV|VK|OPENAI|OPENSEARCH|MLFLOW|TRACKIO|WANDB|SEARCH|BRAVE|OPEN|BASE|SAMPLING|XDG|ORT|NODE)_/;

  it.each(pages)("%s: are codes of the program", (page) => {
    const text = readFileSync(join(packageRoot, page), "utf8");
    const named = [...text.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, code = ""]) => code);
    const unknown = named.filter((code) => !(code in ERROR_CODES) && !VARIABLE.test(code));
    expect(unknown).toEqual([]);
  });
});

import { Command } from "commander";
import { packageVersion } from "../base/package-root.ts";
import type { CliContext, CommandGroup } from "./command.ts";
import { examplesText } from "./examples.ts";
import type { CliIo } from "./io.ts";
import { renderText } from "../base/table.ts";
import { pathOf, refuseRepeated } from "./usage-error.ts";

interface StartOptions {
  quiet?: boolean;
  debug?: boolean;
  /** Parts of the user's own: loaded before the action runs, so that every list of parts holds them. */
  plugin?: readonly string[];
}

interface ProgramEvents {
  /** Before an action runs, with the options that every command takes. */
  onStart(options: StartOptions): void;
  /** Commander found a usage error in the command. */
  onUsageError(command: Command): void;
}

/**
 * The commander program with every registered command. Commander never prints or exits by itself: its text goes
 * through `io`, its exits become errors that `main` reads.
 * @param argv the command line: other commands than the one that it calls have a name and a summary, and are not loaded. Absent: all are.
 */
export async function buildProgram(
  groups: readonly CommandGroup[],
  context: CliContext,
  io: CliIo,
  events: ProgramEvents,
  argv?: readonly string[],
): Promise<Command> {
  const program = new Command("agentrl")
    .description("agentic-RAG reinforcement learning, all of it in Node")
    .version(packageVersion(), "--version", "print the version")
    .helpOption("-h, --help", "explain a command")
    .option("--quiet", "results and errors only")
    .option("--debug", "show where an error comes from")
    .hook("preAction", async (_program, action) => {
      const options = action.optsWithGlobals<StartOptions>();
      events.onStart(options);
      const { plugin = [] } = options;
      if (plugin.length === 0) return;
      const { loadPlugin } = await import("../base/plugins.ts");
      for (const name of plugin) await loadPlugin(name, process.cwd(), "--plugin");
    });
  for (const { title, commands } of groups) {
    program.commandsGroup(title);
    for (const command of commands) {
      const { name, summary } = command;
      if (isCalled(name, argv)) await command.register(program, context, wordAfter(name, argv));
      else program.command(name);
      if (summary !== undefined)
        program.commands.find((each) => each.name() === name)?.summary(summary);
    }
  }
  program.configureHelp({ formatHelp: () => rootHelp(program, io.call) });
  for (const command of withDescendants(program)) {
    refuseRepeated(command);
    groupOptions(command);
    command.exitOverride().configureOutput({
      writeOut: (text) => {
        io.out(text);
      },
      writeErr: (text) => {
        io.err(text);
      },
      getOutHelpWidth: () => io.width,
      getErrHelpWidth: () => io.width,
      outputError: () => {
        events.onUsageError(command);
      },
    });
    if (command !== program) {
      command
        .configureHelp({ subcommandTerm: termOf, groupItems })
        .helpOption("-h, --help", "explain this");
    }
    if (command.commands.length > 0) command.helpCommand(command === program);
    const examples = examplesText(pathOf(command).replace(/^agentrl /, ""), io.call);
    // `serve` does something of its own beside its subcommands.
    if (command.commands.length === 0 || examples !== "")
      command.addHelpText(
        "after",
        `\nEverywhere: --quiet (results and errors only), --debug (stacks).\n${examples}`.trimEnd(),
      );
  }
  return program;
}

/** Whether a command line needs the whole of a command: it calls it, asks for its help, or completes its words. */
function isCalled(name: string, argv: readonly string[] | undefined): boolean {
  if (argv === undefined) return true;
  const [first = "", ...rest] = argv.filter((word) => !word.startsWith("-"));
  return first === name || (["help", "complete"].includes(first) && rest.includes(name));
}

function wordAfter(name: string, argv: readonly string[] = []): string | undefined {
  return argv[argv.indexOf(name) + 1];
}

/** A subcommand and its arguments, without "[options]": the list is for choosing one. */
function termOf(command: Command): string {
  const names = command.registeredArguments.map((argument) => {
    const name = argument.variadic ? `${argument.name()}...` : argument.name();
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...names].join(" ");
}

function withDescendants(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withDescendants)];
}

/** What `agentrl` and `agentrl --help` show: first steps, then every command by purpose, on one screen. */
function rootHelp(program: Command, call: string): string {
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
  ["--out PATH", "where to write; --overwrite replaces; as a data file - is stdin"],
  ["--json", "result or error as one JSON document on stdout"],
  ["--quiet", "results and errors only"],
  ["--debug", "show where an error comes from"],
];

/** Options of a command above which its help has headings. */
const SHORT_HELP = 8;

/** The headings of long help, each with its options: an option means the same in every command. Others stand under "Options:". */
const HEADINGS: Readonly<Record<string, readonly string[]>> = {
  "Recipe and its settings:": [
    ...["--recipe", "--tier", "--set", "--plugin", "--seed", "--allow-ignored"],
  ],
  "Policy:": [
    ...["--policy", "--chat", "--no-chat", "--prompt", "--strategy", "--temperature"],
    ...["--samples", "--device", "--tokenizer", "--adapters", "--max-adapters"],
  ],
  "Model on a server:": [
    ...["--model", "--endpoint", "--api", "--api-key-env", "--max-tokens", "--concurrency"],
    ...["--timeout-ms", "--retries", "--price-in", "--price-out", "--cache", "--no-cache"],
  ],
  "Questions and passages:": [
    ...["--dataset", "--data", "--validation-data", "--questions", "--passages", "--split"],
    ...["--predictions", "--references", "--queries", "--qrels", "--run", "--limit", "--shuffle"],
    ...["--index", "--corpus", "--retriever", "--task", "--evaluation"],
  ],
  "Names of fields in your files:": [
    ...["--question-field", "--answer-field", "--answer-separator", "--id-field", "--text-field"],
    ...["--title-field", "--references-field", "--prediction-field", "--verdict-field"],
  ],
  "BM25:": ["--variant", "--k1", "--b", "--delta", "--analyzer"],
  "Text embeddings:": [
    ...["--encoder", "--query-prefix", "--passage-prefix", "--pooling", "--inner-product"],
    ...["--vectors", "--graph", "--m", "--ef-construction", "--ef-search", "--dtype"],
  ],
  "Server:": [
    ...["--host", "--port", "--token-env", "--body-limit", "--timeout", "--max-queue"],
    ...["--top-k-limit", "--max-sessions", "--session-timeout", "--max-models", "--max-requests"],
  ],
  "Results:": [
    ...["--out", "--overwrite", "--resume", "--json", "--format", "--plain", "--reporter"],
    ...["--require", "--allow-errors", "--metrics", "--across"],
  ],
};

const headingOf = new Map(
  Object.entries(HEADINGS).flatMap(([heading, options]) =>
    options.map((option) => [option, heading] as const),
  ),
);

/** Puts the options of a command with many under headings. */
function groupOptions(command: Command): void {
  if (command.options.length <= SHORT_HELP) return;
  for (const option of command.options) {
    const heading = headingOf.get(option.long ?? "");
    if (heading !== undefined) option.helpGroup(heading);
  }
}

/** Help items by heading, in the order of the headings; items without one follow. For commander's `configureHelp`. */
function groupItems<T>(_: T[], shown: T[], groupOf: (item: T) => string): Map<string, T[]> {
  const headings = [...new Set([...Object.keys(HEADINGS), ...shown.map(groupOf)])];
  const groups = headings.map((heading): [string, T[]] => [
    heading,
    shown.filter((item) => groupOf(item) === heading),
  ]);
  return new Map(groups.filter(([, items]) => items.length > 0));
}

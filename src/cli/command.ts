import { Argument, type Command } from "commander";
import type { Printed } from "../view/terminal.ts";
import { addOptions, type Flags, type OptionTable, type ValueOf } from "./options.ts";

/** Input and output of the command line: injected, so that commands can be tested without a process. */
export interface CliContext {
  /**
   * Results only; nothing else ever goes to stdout. A missing final newline is added. Control and invisible characters of a string are
   * shown as JSON escapes, which leaves the value of JSON as it is.
   */
  readonly out: (text: Printed) => void;
  /** A result that another program reads byte by byte, such as CSV: as it is in a pipe or a file, and as by `out` on a terminal. */
  readonly document: (text: string) => void;
  /** Everything for people: progress, notes, warnings, on stderr. Silent under --quiet. Final newline as in `out`. */
  readonly note: (text: Printed) => void;
  /** Whether progress may overwrite itself: a person watches stderr, without --quiet. */
  readonly terminal: boolean;
  /** Whether the command line asks for help, whose texts may need more than the command does. */
  readonly asksHelp?: boolean;
  /** How the user starts the program, for commands to copy: `agentrl`, `npx agentrl`. */
  readonly call: string;
  /** Aborted on Ctrl-C, SIGTERM and SIGHUP: finish what is being written, keep it, and throw the reason. */
  readonly signal: AbortSignal;
  /**
   * For a command that runs until it is stopped. Resolves then; SIGTERM gives exit status 0, because it is the normal end of such a
   * command.
   */
  readonly untilStopped: () => Promise<void>;
}

/** One command, or a family: `index build`, `index search`, …; registered in commands/index.ts. */
export interface CliCommand {
  readonly name: string;
  /** Its line in `agentrl --help`. */
  readonly summary?: string;
  /**
   * Adds itself to the program. Actions throw AgentrlError; `main` prints it and sets the exit code.
   * @param next the word after the command's name: a family loads only the member of that name.
   */
  register(program: Command, context: CliContext, next?: string): void | Promise<void>;
}

/** Flags of a table, of which some must be given. */
type GivenFlags<O, R extends keyof O> = Flags<O> & { [K in R]: ValueOf<O[K]> };

type ArgumentSpec = readonly [name: string, does: string, choices?: readonly string[]];

type ArgumentValue<N> = N extends `${string}...${string}`
  ? string[]
  : N extends `<${string}`
    ? string
    : string | undefined;

type ArgumentValues<A extends readonly ArgumentSpec[]> = {
  -readonly [I in keyof A]: ArgumentValue<A[I][0]>;
};

interface CommandSpec<
  A extends readonly ArgumentSpec[],
  O extends OptionTable,
  R extends keyof O & string,
> {
  name: string;
  /** Its line in the help of its family. */
  summary?: string;
  description: string;
  args?: A;
  options: O;
  /** Options that must be given. */
  required?: readonly R[];
  /** Options that exclude others. */
  conflicts?: { readonly [K in keyof O]?: readonly (keyof O & string)[] };
  /** An earlier name, which no list shows. */
  hidden?: boolean;
  /** What the family does without a member. */
  isDefault?: true;
  /** Whether the family has options of the same names, which it parses. */
  inherits?: true;
  /** Adds what a table cannot say: an option that excludes another, further help. */
  more?: (command: Command, context: CliContext) => unknown;
  run: (
    flags: GivenFlags<O, R>,
    context: CliContext,
    ...args: ArgumentValues<A>
  ) => void | Promise<void>;
}

/** A command as data; the types of its flags and arguments follow from it. */
export function defineCommand<
  const O extends OptionTable,
  const A extends readonly ArgumentSpec[] = readonly [],
  R extends keyof O & string = never,
>(spec: CommandSpec<A, O, R>): CliCommand {
  const {
    name,
    summary,
    description,
    args = [],
    required = [],
    hidden,
    isDefault,
    inherits,
  } = spec;
  const conflicts = (spec.conflicts ?? {}) as Readonly<Record<string, readonly string[]>>;
  return {
    name,
    async register(parent, context) {
      const command = parent.command(name, { hidden, isDefault }).description(description);
      if (summary !== undefined) command.summary(summary);
      for (const [argument, does, choices] of args) {
        const own = new Argument(argument, does);
        command.addArgument(choices === undefined ? own : own.choices(choices));
      }
      addOptions(command, spec.options);
      for (const option of command.options) {
        const key = option.attributeName();
        if (required.some((each) => each === key)) option.makeOptionMandatory();
        option.conflicts([...(conflicts[key] ?? [])]);
      }
      await spec.more?.(command, context);
      command.action((...given) => {
        const flags = inherits === true ? command.optsWithGlobals() : command.opts();
        const values = given.slice(0, args.length) as unknown as ArgumentValues<A>;
        return spec.run(flags as GivenFlags<O, R>, context, ...values);
      });
    },
  };
}

/** Commands that serve one purpose, under one heading of `agentrl --help`. */
export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly CliCommand[];
}

/** A command whose module, which exports it as `<name>Command`, is loaded when it is called. */
export function command<N extends string>(
  name: N,
  summary: string,
  load: () => Promise<Readonly<Record<`${N}Command`, CliCommand>>>,
): CliCommand {
  return {
    name,
    summary,
    async register(program, context) {
      const loaded = await load();
      await loaded[`${name}Command`].register(program, context);
    },
  };
}

/**
 * A family of commands. The module of a member is loaded when it is called; every member's, for the family's help.
 * @param own what the family does without a member, if anything.
 */
export function family(
  name: string,
  { summary, description }: { summary: string; description: string },
  members: Readonly<Record<string, () => Promise<CliCommand>>>,
  own?: () => Promise<CliCommand>,
): CliCommand {
  return {
    name,
    summary,
    async register(program, context, next = "") {
      const parent = program.command(name).description(description);
      const named = members[next];
      const loaders = named === undefined ? Object.values(members) : [named];
      const all = own === undefined ? loaders : [own, ...loaders];
      for (const add of await Promise.all(all.map((load) => load())))
        await add.register(parent, context);
    },
  };
}

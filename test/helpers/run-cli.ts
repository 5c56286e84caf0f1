import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { vi } from "vitest";
import type { CommandGroup } from "../../src/cli/command.ts";
import { commandGroups } from "../../src/cli/commands/index.ts";
import { runCommands } from "../../src/cli/main.ts";

const root = join(import.meta.dirname, "..", "..");

/** What a run of the program left behind. */
export interface CliRun {
  stdout: string;
  stderr: string;
  status: number | null;
}

export interface CliOptions {
  /** Folder to run in; default: the root of the sources. */
  cwd?: string;
  /** Variables beside those of the test's process. */
  env?: Record<string, string>;
  /** What stdin holds. */
  input?: string;
}

/**
 * Runs `agentrl` in this process and in a pipe (no terminal, no colours), without the half second that a process takes to start.
 * test/cli/real-process*.test.ts show that a process prints the same. Signals, closed pipes, terminals, memory, start-up and plugins
 * (vitest imports modules in its own way) need a real one: `spawnCli`.
 */
export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliRun> {
  return runInProcess(args, commandGroups, options);
}

/** As `runCli`, with commands of the caller. */
export async function runInProcess(
  args: readonly string[],
  groups: readonly CommandGroup[],
  { cwd, env = {}, input = "" }: CliOptions = {},
): Promise<CliRun> {
  const restore = [replaceStdin(input), replaceEnv(env), replaceCwd(cwd)];
  let stdout = "";
  let stderr = "";
  // The completion's library prints by itself.
  const log = vi.spyOn(console, "log").mockImplementation((text) => (stdout += `${text}\n`));
  try {
    const status = await runCommands(args, groups, {
      out: (text) => (stdout += text),
      err: (text) => (stderr += text),
      terminal: false,
      outTerminal: false,
      width: 80,
      call: "agentrl",
      onStop: () => () => undefined,
    });
    return { stdout, stderr, status };
  } finally {
    log.mockRestore();
    for (const each of restore.reverse()) each();
  }
}

/** Each returns a function that puts back what was there. */
function replaceStdin(text: string): () => void {
  const before = Object.getOwnPropertyDescriptor(process, "stdin");
  if (before === undefined) throw new Error("process.stdin is missing.");
  Object.defineProperty(process, "stdin", {
    value: Readable.from(text === "" ? [] : [Buffer.from(text)]),
    configurable: true,
  });
  return () => {
    Object.defineProperty(process, "stdin", before);
  };
}

function replaceEnv(env: Record<string, string>): () => void {
  const before = Object.keys(env).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, env);
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
  };
}

function replaceCwd(cwd: string | undefined): () => void {
  if (cwd === undefined) return () => undefined;
  const before = process.cwd();
  process.chdir(cwd);
  return () => {
    process.chdir(before);
  };
}

/** Runs the built `agentrl` as a process of its own, in a pipe. */
export function spawnCli(
  args: readonly string[],
  { cwd = root, env = {}, input = "" }: CliOptions = {},
): CliRun {
  if (!existsSync(join(root, "dist", "cli", "main.js"))) {
    throw new Error("dist/ is missing: `npm run build` makes it (`npm test` does so by itself).");
  }
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [join(root, "bin", "agentrl.js"), ...args],
    {
      cwd,
      env: { ...process.env, NO_COLOR: "1", ...env },
      input,
      encoding: "utf8",
      timeout: 60_000,
    },
  );
  return { stdout, stderr, status };
}

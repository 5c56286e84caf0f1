import { type StdioOptions, spawn, spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageVersion } from "../../src/base/package-root.ts";
import { runCli } from "../helpers/run-cli.ts";

describe("agentrl", () => {
  it("shows every command by purpose on one screen when called alone", async () => {
    const { stdout, stderr, status } = await runCli([]);
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toBe(
      `agentrl ${packageVersion()}: agentic-RAG reinforcement learning, all of it in Node`,
    );
    expect(lines.length).toBeLessThanOrEqual(50);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(stdout).toBe((await runCli(["--help"])).stdout);
  });

  it("prints the version", async () => {
    expect(await runCli(["--version"])).toEqual({
      stdout: `${packageVersion()}\n`,
      stderr: "",
      status: 0,
    });
  });

  it("explains a command on stdout", async () => {
    const { stdout, stderr, status } = await runCli(["recipes", "show", "--help"]);
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(stdout).toMatch(/^Usage: agentrl recipes show \[options\] <recipe>\n/);
    const headings = stdout.split("\n").filter((line) => /^\S.*:$/.test(line));
    expect(headings).toEqual(["Arguments:", "Options:", "Examples:"]);
    const lines = stdout.split("\n");
    expect(lines.some((line) => /^ {2}--tier <tier> {2,}\S/.test(line))).toBe(true);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it("explains a family on stderr when its subcommand is missing", async () => {
    const { stdout, stderr, status } = await runCli(["recipes"]);
    expect({ stdout, status }).toEqual({ stdout: "", status: 2 });
    expect(stderr).toMatch(/^Usage: agentrl recipes \[options\] \[command\]\n/);
    const commands = [...stderr.matchAll(/^ {2}([a-z]+)[^\n]* {2,}\S/gm)].map(([, name]) => name);
    expect(commands).toEqual(["list", "needs", "show", "plan", "check", "export"]);
  });
});

describe("a mistake on the command line", () => {
  const errorOf = async (...args: string[]): Promise<string> => {
    const { stdout, stderr, status } = await runCli(args);
    expect({ stdout, status }).toEqual({ stdout: "", status: 2 });
    return stderr.trimEnd();
  };

  it("is answered with the nearest command or option, and where to read more", async () => {
    expect(await errorOf("docter")).toBe(
      "error: unknown command 'docter'. Did you mean doctor? See `agentrl --help`. [USAGE]",
    );
    expect(await errorOf("recipes", "lst")).toMatch(/'lst'.* list\?.*`agentrl recipes --help`/);
    expect(await errorOf("doctor", "--jsn")).toMatch(/'--jsn'.* --json\?.*`agentrl doctor --help`/);
  });

  it("is answered before help is", async () => {
    expect(await errorOf("docter", "--help")).toContain("Did you mean doctor?");
  });

  it("is answered with what is missing or left over", async () => {
    expect(await errorOf("recipes", "show")).toContain("'recipe'");
    expect(await errorOf("doctor", "now")).toContain("Expected 0 arguments but got 1.");
    expect(await errorOf("recipes", "show", "a", "--tier")).toContain("'--tier <tier>'");
  });

  it("shows where it arose under --debug only", async () => {
    const missing = ["recipes", "show", "./no.yaml"];
    expect(await errorOf(...missing)).toMatch(/^error: .*\.\/no\.yaml.* \[RECIPE_MISSING\]$/);
    expect(await errorOf(...missing, "--debug")).toMatch(/\n {4}at .*recipe-file/);
  });
});

describe("the process", () => {
  it("keeps quiet when the reader of stdout goes away", async () => {
    const child = start(["bin/agentrl.js", "data", "list"]);
    child.stdout.destroy();
    expect(await child.ended).toMatchObject({ stderr: "" });
  });

  /** A command that waits for its signal, or for ever. */
  const waiting = (heedsSignal: boolean): string[] => [
    "--input-type=module",
    "--eval",
    `import { processIo } from "./dist/cli/io.js";
     import { runCommands } from "./dist/cli/main.js";
     const command = { name: "wait", register: (program, { out, signal }) =>
       program.command("wait").action(async () => {
         out("ready");
         const timer = setInterval(() => {}, 1000);
         await new Promise((done) => ${String(heedsSignal)} && signal.addEventListener("abort", done));
         clearInterval(timer);
         signal.throwIfAborted();
       }) };
     process.exitCode = await runCommands(["wait"], [{ title: "", commands: [command] }], processIo());`,
  ];

  it("lets a command finish on Ctrl-C and ends with 130", async () => {
    const child = start(waiting(true));
    child.stdout.once("data", () => child.kill("SIGINT"));
    const { status, stderr } = await child.ended;
    expect(status).toBe(130);
    expect(stderr).toBe("\nInterrupted: saving finished work. A second Ctrl-C stops at once.\n");
  });

  it("takes SIGTERM as Ctrl-C is taken, and ends with 143", async () => {
    const child = start(waiting(true));
    child.stdout.once("data", () => child.kill("SIGTERM"));
    const { status, stderr } = await child.ended;
    expect(status).toBe(143);
    expect(stderr).toBe(
      "SIGTERM received: saving finished work. A second SIGTERM stops at once.\n",
    );
  });

  it("goes on after SIGHUP where it has no terminal, as under nohup", async () => {
    const child = start(waiting(true));
    child.stdout.once("data", () => {
      child.kill("SIGHUP");
      setTimeout(() => child.kill("SIGINT"), 200);
    });
    expect(await child.ended).toMatchObject({ status: 130 });
  });

  it("dies of a second Ctrl-C", async () => {
    const child = start(waiting(false));
    child.stdout.once("data", () => child.kill("SIGINT"));
    child.stderr.once("data", () => child.kill("SIGINT"));
    expect(await child.ended).toMatchObject({ status: null, signal: "SIGINT" });
  });
});

function start(args: string[]) {
  const root = join(import.meta.dirname, "..", "..");
  const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (piece: Buffer) => (stderr += piece.toString()));
  const ended = new Promise<{ status: number | null; signal: string | null; stderr: string }>(
    (done) =>
      child.on("close", (status, signal) => {
        done({ status, signal, stderr });
      }),
  );
  return Object.assign(child, { ended });
}

describe.skipIf(process.platform !== "linux")("a disk without room", () => {
  const agentrl = (args: string[], stdio: StdioOptions) => {
    const root = join(import.meta.dirname, "..", "..");
    const command = [join(root, "bin", "agentrl.js"), ...args];
    return spawnSync(process.execPath, command, { encoding: "utf8", timeout: 20_000, stdio });
  };

  it("is said of stdout, with status 4; of stderr it costs what is only said", () => {
    const full = openSync("/dev/full", "w");
    const { stderr, status } = agentrl(["data", "list"], ["ignore", full, "pipe"]);
    expect(status).toBe(4);
    expect(stderr).toMatch(/^error: stdout could not be written.*\[FILE_WRITE_FAILED\]\n$/);
    expect(agentrl(["data", "check", "none.jsonl"], ["ignore", "pipe", full]).status).toBe(3);
    closeSync(full);
  });
});

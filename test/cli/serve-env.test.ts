import { type ChildProcess, spawn } from "node:child_process";
import { describe, expect, it, onTestFinished } from "vitest";
import { serveCommand } from "../../src/cli/commands/serve.ts";
import { runCommand } from "../helpers/run-command.ts";
import { connectEnv } from "../helpers/served-env.ts";

interface Started {
  line: { url: string; name: string; tier: string; questions: number; pid: number };
  child: ChildProcess;
  /** Exit status and stderr, once it has ended. */
  ended: Promise<{ status: number | null; stderr: string }>;
}

/** The real command on a free port. */
async function start(...args: string[]): Promise<Started> {
  const flags = ["serve", "env", "--port", "0", "--json", ...args];
  const child = spawn(process.execPath, ["bin/agentrl.js", ...flags], {
    env: { ...process.env, SERVE_TEST_TOKEN: "s3cret", NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stderr = "";
  child.stderr.on("data", (piece: Buffer) => (stderr += piece.toString()));
  const ended = new Promise<{ status: number | null; stderr: string }>((resolve) => {
    child.on("close", (status) => {
      resolve({ status, stderr });
    });
  });
  const text = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (piece: Buffer) => {
      resolve(piece.toString());
    });
    void ended.then(({ stderr: said }) => {
      reject(new Error(said));
    });
  });
  return { line: JSON.parse(text) as Started["line"], child, ended };
}

describe("agentrl serve env", () => {
  it("serves a recipe's episodes until SIGTERM, ends with 0, and prints no token", async () => {
    const flags = ["--recipe", "search-r1", "--tier", "smoke", "--token-env", "SERVE_TEST_TOKEN"];
    const { line, child, ended } = await start(...flags, "--max-sessions", "1");
    expect(line).toMatchObject({ name: "search-r1", tier: "smoke", questions: 16 });
    const authorization = "Bearer s3cret";
    const client = await connectEnv(line.url, { authorization });
    await client.ask("reset", { seed: 0 });
    const { data } = await client.ask("step", { message: "<answer>x</answer>" });
    expect(data).toMatchObject({ done: true, reward: 0 });
    const second = await connectEnv(line.url, { authorization });
    expect((await second.read()).data.code).toBe("CAPACITY_REACHED");
    child.kill("SIGTERM");
    const { status, stderr } = await ended;
    expect(status).toBe(0);
    expect(stderr).toContain("Stopped. Episodes 1.");
    expect(stderr).not.toContain("s3cret");
  });

  it("refuses no recipe, an open address without a token, and an unset token", async () => {
    const serve = (...args: string[]) => runCommand(serveCommand, ["serve", "env", ...args]);
    expect((await serve()).stderr).toContain("No recipe is given");
    const smoke = ["search-r1", "--tier", "smoke", "--port", "0"];
    expect((await serve(...smoke, "--host", "0.0.0.0")).stderr).toContain("there is no token");
    const unset = await serve(...smoke, "--token-env", "SERVE_TEST_UNSET");
    expect(unset.stderr).toContain("unset or empty");
    expect((await serve("frozen-lake", "--max-sessions", "0")).status).toBe(2);
  });
});

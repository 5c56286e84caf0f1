import { describe, expect, it } from "vitest";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { startServe, type StartedServe } from "../helpers/serve-command.ts";
import { connectEnv } from "../helpers/served-env.ts";

const serveCommand = commandNamed("serve");

interface Line {
  url: string;
  name: string;
  tier: string;
  questions: number;
  pid: number;
}

const start = (...args: string[]): Promise<StartedServe<Line>> => startServe(["env", ...args]);

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

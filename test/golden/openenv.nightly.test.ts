import { spawn, spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { serveRecipeEnv } from "../helpers/served-env.ts";

// A Python with openenv 0.10.0, or with verifiers 0.4.0 too; AGENTRL_TEST_PYTHON names another than python3.
const python = process.env["AGENTRL_TEST_PYTHON"] ?? "python3";
const has = (module: string): boolean => spawnSync(python, ["-c", `import ${module}`]).status === 0;
const openenv = has("openenv");

/** Runs a script that prints one line of JSON, while this process serves. */
function report(script: string, args: readonly string[]): Promise<Record<string, unknown>> {
  const child = spawn(python, [script, ...args]);
  let [out, err] = ["", ""];
  child.stdout.on("data", (text: Buffer) => (out += text.toString()));
  child.stderr.on("data", (text: Buffer) => (err += text.toString()));
  return new Promise((resolve, reject) => {
    child.on("close", (status) => {
      if (status === 0) resolve(JSON.parse(out) as Record<string, unknown>);
      else reject(new Error(`${script} ended with ${status}: ${out} ${err}`));
    });
  });
}

it.skipIf(!openenv)("plays 200 episodes, 64 at once, with OpenEnv's own client (needs a Python with openenv)", async () => {
  const { server } = await serveRecipeEnv("search-r1", { maxSessions: 64 });
  const found = await report("test/golden/openenv-client.py", [server.url, "200", "64"]);
  expect(found).toMatchObject({ episodes: 200, errors: 0 });
  expect(found["refused"]).toContain("CAPACITY_REACHED");
  expect(found["meanReward"]).toBeGreaterThan(0);
});

it.skipIf(!openenv || !has("verifiers"))("is evaluated by verifiers, with the rewards that OpenEnv's client gets (needs a Python with both)", async () => {
  const { server } = await serveRecipeEnv("search-r1", { maxSessions: 64 });
  const own = await report("test/golden/openenv-client.py", [server.url, "16", "64"]);
  const found = await report("test/golden/openenv-verifiers.py", [server.url, "16"]);
  expect(found).toMatchObject({ episodes: 16, failed: 0, meanReward: own["meanReward"] });
});

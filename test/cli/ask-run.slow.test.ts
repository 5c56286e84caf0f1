import { join } from "node:path";
import { expect, it } from "vitest";
import { runCli } from "../helpers/run-cli.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const cwd = temporaryFolder();
const question = "Who was the teacher of Gala Quilvik?";

it("asks the newest checkpoint of a run, with the run's own settings and passages", async () => {
  const train = ["train", "search-r1", "--tier", "smoke", "--plain", "--out", "run"];
  expect((await runCli(train, { cwd })).status).toBe(0);
  const ask = async (policy: string): Promise<unknown> => {
    const { stdout, status } = await runCli(["ask", "--policy", policy, "--json", question], {
      cwd,
    });
    expect(status).toBe(0);
    const { seconds: _, ...document } = JSON.parse(stdout) as { seconds: number };
    return document;
  };
  const asked = await ask("run");
  // A passage of the run's small world, which the default world does not have.
  expect(JSON.stringify(asked)).toContain('"title":"Gala Quilvik"');
  expect(await ask(join("run", "checkpoints", "step-2"))).toEqual(asked);
});

import { expect, it } from "vitest";
import { evalCommand } from "../../src/cli/commands/eval.ts";
import { traceCommand } from "../../src/cli/commands/trace.ts";
import { runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

it(
  "trace lint finds nothing in what an evaluation at temperature 0 wrote",
  { timeout: 60_000 },
  async () => {
    const flags = ["--recipe", "search-r1", "--tier", "smoke", "--limit", "4", "--out", "measured"];
    const measured = await runCommand(evalCommand, ["eval", ...flags], folder);
    expect(measured.status, measured.stderr).toBe(0);
    const args = ["trace", "lint", "measured/trajectories.jsonl", "--json"];
    const { stdout, status } = await runCommand(traceCommand, args, folder);
    expect(JSON.parse(stdout)).toMatchObject({ checked: 4, violations: [], unknown: {} });
    expect(status).toBe(0);
  },
);

import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { trainCommand } from "../../src/cli/commands/train.ts";
import { runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const out = join(temporaryFolder(), "run");

/** `agentrl train` of one step of 2 questions × 2 trajectories. */
function trainArguments(...more: string[]): string[] {
  const sets = [
    ...["algorithm.steps=1", "algorithm.promptsPerStep=2", "algorithm.groupSize=2"],
    ...["evaluation.dataset.questions=2", "engine.workers=1"],
  ].flatMap((set) => ["--set", set]);
  return ["train", "--recipe", "search-r1", "--tier", "smoke", "--out", out, ...sets, ...more];
}

describe("agentrl train --replay-batch", { timeout: 240_000 }, () => {
  beforeAll(async () => {
    const trained = await runCommand(trainCommand, trainArguments());
    expect(trained.status, trained.stderr).toBe(0);
  }, 240_000);

  it("shows the step's metrics beside the logged ones: equal under the run's settings", async () => {
    const { stdout, status } = await runCommand(
      trainCommand,
      trainArguments("--replay-batch", "1"),
    );
    expect(status).toBe(0);
    expect(stdout).toMatch(/^step 1 +logged +replayed +difference\n/);
    expect(stdout).toMatch(/\noptimizer\/grad_norm +(\S+) +\1 +=\n/);
    expect(stdout).toContain("Every metric equals the logged one, to the last bit.");
    expect(stdout).toMatch(
      /replayed from the start; after the step's updates the policy is \S+ nats/,
    );
  });

  it("shows the difference that another learning rate makes, as JSON too", async () => {
    const faster = trainArguments("--set", "algorithm.optimizer.learningRate=0.002");
    const { stdout } = await runCommand(trainCommand, [...faster, "--replay-batch", "1", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      step: 1,
      from: 0,
      replayed: { "optimizer/learning_rate": 0.002 },
    });
  });

  it("refuses to resume in the same breath, and a step that the run has not done", async () => {
    const both = await runCommand(trainCommand, trainArguments("--replay-batch", "1", "--resume"));
    expect(both.status).toBe(2);
    const later = await runCommand(trainCommand, trainArguments("--replay-batch", "2"));
    expect([later.status, later.stderr]).toEqual([2, expect.stringContaining("REPLAY_NO_BATCH")]);
  });
});

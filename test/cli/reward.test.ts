import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { trainCommand } from "../../src/cli/commands/train.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const rewardCommand = commandNamed("reward");

const cwd = temporaryFolder();
const check = (...args: string[]) =>
  runCommand(rewardCommand, ["reward", "check", "--tier", "smoke", ...args], `${cwd}/`);

/** Questions whose accepted answer is an article: nothing is left of it that words could be shared with. */
function writeQuestions(): string {
  const file = join(cwd, "articles.jsonl");
  const tasks = ["Which article is definite?", "Which word opens the Iliad's title?"];
  const records = tasks.map((question, i) => ({ id: `q${i}`, question, answers: ["The"] }));
  writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  return file;
}

describe("agentrl reward check", () => {
  it("shows what each reward was expected to give, and gave, within 80 columns", async () => {
    const { stdout, status } = await check("--set", "rewards=[exact-match,{name: token-f1, weight: 0.5}]"); // prettier-ignore
    expect(status).toBe(0);
    expect(stdout).toMatchInlineSnapshot(`
      "search-r1, tier smoke: 8 questions, 152 trajectories played

      case                   exact-match   got      token-f1 × 0.5            got
      golden                 1               1  ok  1                           1  ok
      golden-after-search    1               1  ok  1                           1  ok
      silent                 0               0  ok  0                           0  ok
      empty-answer           0               0  ok  0                           0  ok
      garbled                0               0  ok  0                           0  ok
      wrong                  0               0  ok  0                           0  ok
      tag-spam               0               0  ok  0                           0  ok
      prompt-echo            0               0  ok  0 to <1                     0  ok
      question-as-answer     0               0  ok  0 to <1                     0  ok
      answer-in-observation  0               0  ok  0                           0  ok
      answer-in-think        0               0  ok  0                           0  ok
      tag-in-think           as extracted    1  ok  as extracted                1  ok
      unclosed-tag           as extracted    0  ok  as extracted                0  ok
      two-answers            as extracted    0  ok  as extracted                0  ok
      alternatives           0               0  ok  0 to <1           0.4 … 0.667  ok
      candidates             0               0  ok  0 to <1         0.118 … 0.235  ok
      repeated               0               0  ok  0 to <1                   0.4  ok
      very-long              0               0  ok  0 to <0.05      0.002 … 0.004  ok
      unicode                0               0  ok  0                           0  ok

      A policy that does not answer earns nothing.
      "
    `);
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });

  it("shows the expression and what it reads without a weight, and says what is recorded only", async () => {
    const { stdout } = await check(
      ...["--set", "rewards=[{name: exact-match, as: em},{name: token-f1, as: f1}]"],
      ...["--set", "reward=if(em, 1, 0)"],
    );
    expect(stdout).toContain("reward: if(em, 1, 0)\n");
    expect(stdout).toMatch(/^case +em +got +f1 \(recorded only\) +got/m);
    expect(stdout).not.toContain("× 0");
  });

  it("prints one JSON document for one reward", async () => {
    const { stdout, status } = await check("--reward", "token-f1", "--json");
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      recipe: "search-r1",
      tier: "smoke",
      ok: true,
      questions: 8,
      notWritten: [],
      rewards: [{ name: "token-f1", weight: 1 }],
      withoutAnswering: { share: 0 },
    });
    const unknown = await check("--reward", "token-f2");
    expect(unknown.stderr).toContain('Did you mean "token-f1"?');
  });

  it("ends with 2 and names the reward and case that went wrong, after the table", async () => {
    const dataset = `dataset={ name: files, tasks: ${writeQuestions()} }`;
    const { stdout, stderr, status } = await check("--reward", "token-f1", "--set", dataset);
    expect(status).toBe(2);
    expect(stdout).toMatch(/golden +1 +0 {2}WRONG/);
    expect(stdout).toContain('question q0: 0 for "The", expected 1');
    expect(stderr).toContain('reward "token-f1", case golden, question "q0": 0 for the extracted answer "The"; expected 1.'); // prettier-ignore
    expect(stderr).toContain("[REWARD_CHECK_FAILED]");
  });

  it("says so when no answer could be found under the recipe's protocol", async () => {
    const pattern = "environment.protocol.answer.pattern=<final>(.*?)</final>";
    const { stderr, status } = await check("--set", pattern);
    expect(status).toBe(2);
    expect(stderr).toContain("/<final>(.*?)</final>/");
    expect(stderr).toContain("[REWARD_CHECK_FAILED]");
  });

  it("stops a training before anything is done", async () => {
    const out = join(cwd, "run");
    const dataset = `dataset={ name: files, tasks: ${writeQuestions()} }`;
    const sets = [dataset, "rewards=[token-f1]"].flatMap((set) => ["--set", set]);
    const args = ["train", "--recipe", "search-r1", "--tier", "smoke", "--out", out, ...sets];
    const { stderr, status } = await runCommand(trainCommand, args, `${cwd}/`);
    expect(status).toBe(2);
    expect(stderr).toContain("--set rewardCheck=false. [REWARD_CHECK_FAILED]");
    expect(existsSync(out)).toBe(false);
  });
});

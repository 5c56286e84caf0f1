import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { dpoCommand } from "../../src/cli/commands/dpo.ts";
import { sftCommand } from "../../src/cli/commands/sft.ts";
import { trainCommand } from "../../src/cli/commands/train.ts";
import { trainingSettings } from "../../src/cli/training-command.ts";
import { runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const questions = join(folder, "fragen.jsonl");
const people = [
  "Marie Curie",
  "Niels Bohr",
  "Lise Meitner",
  "Max Born",
  "Emmy Noether",
  "Kurt Gödel",
];
writeFileSync(
  questions,
  people
    .map((name, i) => {
      const context = [{ id: `p${i}`, title: name, text: `${name} worked at a university.` }];
      return JSON.stringify({
        id: `q${i}`,
        question: `At which university did ${name} lecture about physics?`,
        references: ["Göttingen"],
        annotations: { context },
      });
    })
    .join("\n"),
);

const silent = { note: () => undefined };
const train = (...args: string[]) => runCommand(trainCommand, ["train", ...args]);

describe("training on own questions", () => {
  it("trains on four of five questions, evaluates on the others, with budgets for real text", async () => {
    const notes: string[] = [];
    const note = (text: string): void => void notes.push(text);
    const { resolved } = await trainingSettings(undefined, { dataset: questions }, { note });
    const { settings, tier } = resolved;
    const own = { name: "files", tasks: questions };
    expect(settings.dataset).toMatchObject({ ...own, part: "train" });
    expect(settings.evaluation.dataset).toMatchObject({ ...own, part: "held-out" });
    expect(tier).toBe("mini");
    expect(settings.budgets).toContainEqual(
      expect.objectContaining({ scope: "observation", limit: 500 }),
    );
    expect(notes.join()).toContain("paper");
  });

  it("keeps the budgets of a tier that is named, and those of --set", async () => {
    const flags = { dataset: questions, tier: "smoke" };
    const { resolved } = await trainingSettings("search-r1", flags, silent);
    expect(resolved.settings.budgets).toContainEqual(
      expect.objectContaining({ scope: "observation", limit: 120 }),
    );
    const set = { dataset: questions, set: ["budgets.0.limit=7"] };
    const chosen = await trainingSettings("search-r1", set, silent);
    expect(chosen.resolved.settings.budgets[0]).toMatchObject({ scope: "trajectory", limit: 7 });
  });

  it("is refused for the shipped policy, whose vocabulary lacks their words", async () => {
    const { status, stderr } = await train("--dataset", questions, "--out", join(folder, "run"));
    expect(status).toBe(2);
    expect(stderr).toContain("policy.from");
    expect(stderr).toContain("--model");
    expect(stderr).toContain("[VOCABULARY_UNFIT]");
  });

  it.each([
    [["--dataset", "hotpotqa"], "split: train"],
    [["search-r1", "--index", "idx"], "--dataset"],
    [["search-r1", "--question-field", "frage"], "--dataset"],
    [["search-r1", "--recipe", "start"], "start"],
    [[], "recipes list"],
  ])("refuses %j", async (args, named) => {
    const { status, stderr } = await train(...args);
    expect([status, stderr]).toEqual([2, expect.stringContaining("[USAGE]")]);
    expect(stderr).toContain(named);
  });

  it("is refused for a server's model, which cannot be trained here", async () => {
    const recipe = join(folder, "served.yaml");
    const policy = "policy: { endpoint: { baseUrl: http://127.0.0.1:1/v1, model: m } }";
    writeFileSync(recipe, `summary: served\nbase: { seed: 1, ${policy} }\ntiers: { mini: {} }\n`);
    const { status, stderr } = await train(recipe);
    expect(status).toBe(2);
    expect(stderr).toContain("policy.endpoint is http://127.0.0.1:1/v1");
    expect(stderr).toContain("policy.from");
  });

  it.each([
    [sftCommand, "sft", "samples"],
    [dpoCommand, "dpo", "best-worst-pairs"],
  ])("is refused where a teacher's work is learned: %#", async (command, name, made) => {
    const { status, stderr } = await runCommand(command, [name, "--dataset", questions]);
    expect([status, stderr]).toEqual([2, expect.stringContaining("[USAGE]")]);
    for (const word of [questions, "synth-data", made, `${name} agentrl.yaml --data`])
      expect(stderr).toContain(word);
    const help = await runCommand(command, [name, "--help"]);
    expect(help.stdout).not.toContain("--dataset");
  });

  it("takes the recipe as an argument", async () => {
    const { resolved } = await trainingSettings("search-r1", {}, silent);
    expect(resolved.recipe.name).toBe("search-r1");
  });
});

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { openNamedDataset } from "../../../src/run/assemble.ts";
import { BASE_POLICY } from "../../../src/run/bases.ts";
import { type BudgetFacts, budgetFacts } from "../../../src/run/checks/budget-facts.ts";
import { loadRecipe } from "../../../src/run/settings/recipe-file.ts";
import { settingsSchema, type Settings } from "../../../src/run/settings/settings-schema.ts";
import { checkSettings, parseSet, resolveSettings } from "../../../src/run/settings/settings.ts";
import { loadTokenizer, type Tokenizer } from "../../../src/text/tokenizer.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import "../../helpers/all-parts.ts";

const folder = temporaryFolder();
const file = join(folder, "questions.jsonl");
const lines = [
  { id: "a", question: "Who leads Vorn?", answers: ["the old Baker of Vorn", "Baker"] },
  { id: "b", question: `Who leads Vorn${" and a word".repeat(20)}?`, answers: ["the hills"] },
];
writeFileSync(file, lines.map((line) => JSON.stringify(line)).join("\n"));

let tokenizer: Tokenizer;
beforeAll(async () => {
  tokenizer = await loadTokenizer(BASE_POLICY);
});
const count = (text: string): number => tokenizer.encode(text).length;

async function settingsOf(...sets: string[]): Promise<Settings> {
  const recipe = await loadRecipe("search-r1");
  const overrides = sets.map(parseSet);
  return checkSettings(settingsSchema, resolveSettings(recipe, { tier: "smoke", overrides }))
    .settings;
}

async function factsOf(settings: Settings): Promise<BudgetFacts> {
  const dataset = await openNamedDataset(settings.dataset, settings.environment);
  return budgetFacts(settings, dataset, { tokenizer, maxPositions: 1024 });
}

describe("what budgets are held against", () => {
  it("are prompts as they are put, and answers of the fewest tokens, in the policy's own", async () => {
    const { maxPositions, questions, tokens } = await factsOf(
      await settingsOf(`dataset={name: files, tasks: "${file}"}`),
    );
    expect({ maxPositions, questions }).toEqual({ maxPositions: 1024, questions: 2 });
    const answers = ["Baker", "the hills"].map((answer) => count(`<answer> ${answer}</answer>`));
    expect(tokens?.answers).toEqual(answers);
    expect(tokens?.prompts).toHaveLength(2);
    const [short = 0, long = 0] = tokens?.prompts ?? [];
    expect(short).toBeGreaterThan(0);
    const more = count(" and a word".repeat(20));
    expect(Math.abs(long - short - more)).toBeLessThanOrEqual(1);
    // Questions alone: what a search would show is not known.
    expect(tokens?.observations).toEqual([]);
  });

  it("are what searches show, more of it where more passages are shown", async () => {
    const sets = ["dataset.questions=12", "dataset.people=50"];
    const one = await factsOf(
      await settingsOf(...sets, "environment.tools=[{name: corpus-search, topK: 1}]"),
    );
    const three = await factsOf(
      await settingsOf(...sets, "environment.tools=[{name: corpus-search, topK: 3}]"),
    );
    expect(one.questions).toBe(12);
    expect(one.tokens?.observations).toHaveLength(12);
    const sum = ({ tokens }: BudgetFacts): number =>
      tokens?.observations.reduce((a, b) => a + b, 0) ?? 0;
    expect(sum(three) / sum(one)).toBeGreaterThan(2);
    expect(sum(three) / sum(one)).toBeLessThan(4);
    // Nothing is drawn by chance.
    expect(
      await factsOf(
        await settingsOf(...sets, "environment.tools=[{name: corpus-search, topK: 3}]"),
      ),
    ).toEqual(three);
  });
});

import { describe, expect, it } from "vitest";
import {
  differenceLines,
  paperFacts,
  type PaperFacts,
  paperGaps,
  requirePaper,
} from "../../../src/run/checks/paper-tier.ts";
import { loadRecipe, parseRecipe, shippedRecipes } from "../../../src/run/settings/recipe-file.ts";
import type { Tier } from "../../../src/run/settings/recipe-schema.ts";
import { settingsSchema } from "../../../src/run/settings/settings-schema.ts";
import { loadSettings, parseSet, resolveSettings } from "../../../src/run/settings/settings.ts";
import { requirePrompt } from "../../../src/env/environments/environment.ts";
import { environmentOver, searchlessFor } from "../../../src/run/assemble.ts";
import { resolveRecipe } from "../../../src/run/settings/resolve-recipe.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { task } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

/** A recipe whose paper tier states all but what a case leaves out. */
const WHOLE = `
  policy: { from: Qwen/Qwen2.5-7B }
  dataset:
    name: joined
    of: [{ name: nq, source: flashrag, split: train }, { name: hotpotqa, source: flashrag, split: train }]
  retriever: { name: search-r1-server, url: "http://127.0.0.1:8000" }
  environment: { name: search-qa, prompt: "{instructions} {question}" }
  evaluation: { dataset: { name: nq, source: flashrag, split: test } }
  algorithm:
    { name: grpo, steps: 500, promptsPerStep: 512, groupSize: 5, minibatches: 10, klCoef: 0.001, optimizer: { learningRate: 1.0e-6 } }
`;

async function resolved(base: string, { differs = "", tier = "paper", set = [] as string[] } = {}) {
  const text = `summary: A recipe.\n${differs}\nbase:${base}\ntiers: { mini: {}, paper: {} }\n`;
  const given = resolveSettings(parseRecipe(text, "a.yaml"), {
    tier: tier as Tier,
    overrides: set.map(parseSet),
  });
  return loadSettings(settingsSchema, given);
}

async function keysOf(...given: Parameters<typeof resolved>): Promise<string[]> {
  return paperGaps(await resolved(...given), null).map(({ key }) => key);
}

const FACTS: PaperFacts = {
  source: "section 4",
  hardware: null,
  settings: { "algorithm.steps": 500, "algorithm.klCoef": 0.001, "sampling.temperature": 1 },
  training: { nq: 79_168, hotpotqa: 90_447 },
  evaluation: { nq: 3_610 },
};

const recipes = await Promise.all(shippedRecipes().map((name) => loadRecipe(name)));
/** All but corag's, whose strategy has prompts of its own. */
const ofPapers = recipes
  .filter(({ name, tiers }) => tiers.paper !== undefined && name !== "corag")
  .map(({ name }) => name);

describe("the first prompt of a paper tier", () => {
  it.each(ofPapers)("%s: tells every tag that a message may need", async (name) => {
    const { settings } = await resolveRecipe(name, { tier: "paper" });
    const environment = environmentOver(searchlessFor(settings), settings);
    const { protocol, toolSchemas } = environment;
    const prompt = requirePrompt(environment)(task, "");
    // Results come of calls, and a chat template describes the calls of a chat model.
    const isWritten = toolSchemas.length > 0 && protocol.writeCalls === undefined;
    const needed = protocol.tags.filter(({ holds }) => {
      if (holds === "call" || holds === "observation") return isWritten;
      // ARENA's analysis is the thought.
      return holds !== "thought" || name !== "arena";
    });
    expect(needed.length).toBeGreaterThan(0);
    expect(needed.filter(({ opening }) => !prompt.includes(opening))).toEqual([]);
  });
});

describe("a tier paper", () => {
  it("has no gap where it states everything", async () => {
    expect(await keysOf(WHOLE)).toEqual([]);
  });

  it("may not have the package's defaults or a made-up world", async () => {
    expect(await keysOf("\n  algorithm: { name: grpo }")).toEqual([
      ...["dataset", "evaluation.dataset", "retriever", "environment.prompt", "policy.from"],
      ...["steps", "promptsPerStep", "groupSize", "minibatches", "klCoef"].map(
        (key) => `algorithm.${key}`,
      ),
      "algorithm.optimizer.learningRate",
    ]);
  });

  it.each([
    [
      "a world in a joined dataset",
      "{ name: hotpotqa, source: flashrag, split: train }",
      "tinyworld",
      "dataset",
    ],
    [
      "a world in a set",
      "split: test } }",
      "split: test }, sets: { other: { dataset: tinyworld } } }",
      "evaluation.sets.other.dataset",
    ],
  ])("may not have %s", async (_, from, to, key) => {
    expect(await keysOf(WHOLE.replace(from, to))).toEqual([key]);
  });

  it("may have a made-up world where differs names its own key, and not the key above it", async () => {
    const base = WHOLE.replace("{ name: nq, source: flashrag, split: test }", "tinyworld");
    const named = (key: string) => `differs: [{ key: ${key}, paper: NQ, why: not here }]`;
    expect(await keysOf(base, { differs: named("evaluation") })).toEqual(["evaluation.dataset"]);
    expect(await keysOf(base, { differs: named("evaluation.dataset") })).toEqual([]);
  });

  it("may have what differs names, with everything below, and what a flag sets", async () => {
    const base = WHOLE.replace("steps: 500, ", "").replace("groupSize: 5, ", "");
    expect(await keysOf(base)).toEqual(["algorithm.steps", "algorithm.groupSize"]);
    const differs = "differs: [{ key: algorithm, paper: more, why: not published }]";
    expect(await keysOf(base, { differs })).toEqual([]);
    const set = ["algorithm.steps=3", "algorithm.groupSize=2"];
    expect(await keysOf(base, { set })).toEqual([]);
    expect(differenceLines(await resolved(base, { differs }))).toEqual([
      "algorithm (paper: more): not published",
    ]);
  });

  it("is refused, and other tiers are not", async () => {
    await expect(requirePaper(await resolved(WHOLE.replace("steps: 500, ", "")))).rejects.toThrow(
      errorWith("PAPER_TIER_UNLIKE", /^a\.yaml: .*\n {2}algorithm\.steps is the default\n/s),
    );
    const mini = await resolved("\n  algorithm: { name: grpo }", { tier: "mini" });
    await expect(requirePaper(mini)).resolves.toBeUndefined();
    expect(differenceLines(mini)).toEqual([]);
  });
});

describe("a paper's facts", () => {
  it("are met by settings and by the published numbers of questions", async () => {
    expect(paperGaps(await resolved(WHOLE), FACTS)).toEqual([]);
  });

  it("name what is otherwise, with both values", async () => {
    const base = WHOLE.replace("steps: 500", "steps: 1005").replace(
      "{ name: nq, source: flashrag, split: train }, ",
      "",
    );
    const limited = base.replace("split: train }]", "split: train, limit: 50 }, arithmetic]");
    const found = paperGaps(await resolved(limited), FACTS).map(({ message }) => message);
    expect(found).toEqual([
      "dataset is the made-up world arithmetic",
      "algorithm.steps is 1005, and 500 in the paper",
      'dataset is {"hotpotqa":50,"arithmetic":null}, and {"nq":79168,"hotpotqa":90447} in the paper',
    ]);
  });

  it("are not named as differences where there is none", async () => {
    const differs = "differs: [{ key: algorithm.steps, why: of an older version }]";
    expect(paperGaps(await resolved(WHOLE, { differs }), FACTS)).toEqual([
      {
        key: "algorithm.steps",
        message: "algorithm.steps is the paper's, and yet stands under differs",
      },
    ]);
  });

  it("stand beside every shipped recipe of a paper with a tier paper", async () => {
    const without: string[] = [];
    for (const name of shippedRecipes()) {
      const recipe = await loadRecipe(name);
      if (recipe.paper === undefined || recipe.tiers.paper === undefined) continue;
      if ((await paperFacts(recipe)) === null) without.push(name);
    }
    expect(without).toEqual([]);
  });
});

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { armQuestions } from "../../../src/experiment/arm-questions.ts";
import { runRecipe } from "../../../src/run/run-recipe.ts";
import { loadRecipe } from "../../../src/run/settings/recipe-file.ts";
import { settingsSchema } from "../../../src/run/settings/settings-schema.ts";
import { checkSettings, parseSet, resolveSettings } from "../../../src/run/settings/settings.ts";
import type { Session } from "../../../src/run/session.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import "../../helpers/all-parts.ts";

const root = temporaryFolder();
const recipe = await loadRecipe("search-r1");
const SMALL = [
  ...["algorithm.steps=1", "algorithm.promptsPerStep=2", "algorithm.groupSize=2"],
  ...["checkpoints.every=1", "engine.workers=1", "alarms=[]", "evaluation.dataset.questions=2"],
  "evaluation.sets.drawn={ samplesPerTask: 2, sampling: { temperature: 1 } }",
  "evaluation.sets.far.dataset={ questions: 3 }",
];

/** Trains into a folder; the names of what was evaluated, in order, come along. */
async function train(name: string, sets: string[] = [], options: Partial<Session> = {}) {
  const evaluated: string[] = [];
  const overrides = [...SMALL, ...sets].map(parseSet);
  const resolved = resolveSettings(recipe, { tier: "smoke", overrides });
  const work = runRecipe(checkSettings(settingsSchema, resolved), {
    out: join(root, name),
    version: "0",
    signal: new AbortController().signal,
    onEvaluation: (each) => evaluated.push(each),
    ...options,
  });
  return { result: await work.catch((error: unknown) => ({ error })), evaluated };
}

const filesOf = (name: string): Record<string, string> => {
  const place = join(root, name, "eval");
  const files = readdirSync(place, { recursive: true, encoding: "utf8" }).sort();
  return Object.fromEntries(
    files
      .filter((file) => /\.jsonl?$/.test(file))
      .map((file) => [file, readFileSync(join(place, file), "utf8")]),
  );
};

const BEFORE = ["drawn/before", "far/before", "before"];
const AFTER = ["drawn/after", "far/after", "after"];

describe("evaluation.sets of a training", () => {
  it("are measured before and after it, and a resumed run measures only what is missing", async () => {
    const { result, evaluated } = await train("whole");
    expect(evaluated).toEqual([...BEFORE, ...AFTER]);
    expect(result).toMatchObject({
      eval: {
        before: { n: 2, samplesPerTask: 1 },
        after: { n: 2, samplesPerTask: 1 },
        sets: {
          drawn: { before: { n: 2, samplesPerTask: 2 }, after: { n: 2, samplesPerTask: 2 } },
          far: { before: { n: 3 }, after: { n: 3 } },
        },
      },
    });
    const questions = await armQuestions(join(root, "whole"), "eval.sets.far.after.em");
    expect(questions?.values.size).toBe(3);

    // Another training of the same policy takes over what was measured before this one.
    const started: string[] = [];
    const taking = {
      evaluatedIn: join(root, "whole"),
      onEvaluationStart: (name: string) => void started.push(name),
    };
    const taken = await train("taken", ["algorithm.clipHigh=0.3"], taking);
    expect(taken.evaluated).toEqual([...BEFORE, ...AFTER]);
    expect(started).toEqual(AFTER);
    const before = (name: string) => BEFORE.map((each) => filesOf(name)[`${each}.rows.jsonl`]);
    expect(before("taken")).toEqual(before("whole"));

    const halt = new AbortController();
    const onEvaluation = (name: string): void => {
      if (name === "drawn/after") halt.abort();
    };
    await train("halted", [], { signal: halt.signal, onEvaluation });
    const again = await train("halted", [], { resume: true });
    expect(again.evaluated).toEqual(["far/after", "after"]);
    expect(filesOf("halted")).toEqual(filesOf("whole"));

    const longer = await train("halted", ["algorithm.steps=2"], { resume: true });
    expect(longer.evaluated).toEqual(AFTER);
  }, 240_000);

  it("are measured around stages", async () => {
    const { evaluated } = await train("stages", ["stages=[{ do: train }]"]);
    expect(evaluated).toEqual([...BEFORE, ...AFTER]);
  }, 120_000);

  it("name the set in which something does not fit, before training", async () => {
    const { result } = await train("unfit", [
      "evaluation.sets.far={ dataset: { name: arithmetic, questions: 3 }, retriever: oracle }",
    ]);
    expect(result).toEqual({ error: errorWith("RECIPE_BAD_VALUE", /^evaluation\.sets\.far: /) });
  }, 120_000);
});

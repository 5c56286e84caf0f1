import { join } from "node:path";
import { expect, it } from "vitest";
import { fixedSeeds } from "../../src/experiment/claims/looks.ts";
import { reproduce } from "../../src/experiment/reproduce.ts";
import { parseRecipe } from "../../src/run/settings/recipe-file.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { TWO_CLAIMS } from "../helpers/two-claims.ts";

const folder = temporaryFolder();

it("gives an arm the evaluation before training of another that differs in its training alone, seed by seed", async () => {
  const longer = `
    - id: longer
      statement: More steps help.
      metric: eval.after.em
      relation: longer > plain
      source: section 3
      arms: [{ name: longer, set: { algorithm: { name: grpo, steps: 9 } } }, { name: plain }]
`;
  const given: string[] = [];
  await reproduce(parseRecipe(TWO_CLAIMS + longer.slice(1), "three.yaml"), {
    tier: "mini",
    plan: fixedSeeds([1, 2]),
    made: { version: "1", date: "2026-01-02", command: "agentrl reproduce three" },
    out: join(folder, "three"),
    store: null,
    sideBySide: 1,
    signal: new AbortController().signal,
    run: (run, { evaluatedIn = "none" }) => {
      const of = /(\w+)-seed(\d)/.exec(evaluatedIn);
      given.push(`${run.arms[0]} ${run.seed}: ${of === null ? "own" : `${of[1]} ${of[2]}`}`);
      return Promise.resolve({ eval: { after: { em: run.seed / 10 } } });
    },
    questionsOf: () => Promise.resolve(null),
  });
  expect(given).toEqual([
    "hot-wins/hot 1: own",
    "hot-wins/cold 1: own",
    "longer/longer 1: hot 1",
    "hot-wins/hot 2: own",
    "hot-wins/cold 2: own",
    "longer/longer 2: hot 2",
  ]);
});

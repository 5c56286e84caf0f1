import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { givenArms } from "../../src/experiment/given/given-arms.ts";
import { expectedSets } from "../../src/experiment/given/given-runs.ts";
import { paperFacts } from "../../src/run/checks/paper-tier.ts";
import { loadRecipe } from "../../src/run/settings/recipe-file.ts";

/** The sets of Search-R1's tier paper in its order; "" is the run's own evaluation. */
const SETS = ["", "triviaqa", "popqa", "hotpotqa", "wikimultihop", "musique", "bamboogle"];

/** Folders as `agentrl eval --out` writes them, measured as an arm's settings say. */
export async function madeEvaluations(root: string, recipeName = "search-r1") {
  const recipe = await loadRecipe(recipeName);
  const [arms, facts] = [await givenArms(recipe, "paper"), await paperFacts(recipe)];
  /**
   * @param ems by set, in the order of `SETS`; null: not measured.
   * @param changed keys of results.json, over all of its sets.
   */
  return (place: string, arm: string, ems: readonly (number | null)[], changed: object = {}) => {
    const own = arms.find(({ ids }) => ids.some((id) => id.endsWith(`/${arm}`)));
    if (own === undefined) throw new Error(`no arm ${arm}`);
    const expected = expectedSets(own.settings, facts);
    ems.forEach((em, i) => {
      const set = expected.get(SETS[i]!);
      if (em === null || set === undefined) return;
      const folder = join(root, place, SETS[i] === "" ? "nq" : SETS[i]!);
      mkdirSync(folder, { recursive: true });
      const questions = set.questions ?? 100;
      const protocol = {
        ...set.protocol,
        questions,
        retriever: `${set.retriever}-0123456789abcdef`,
      };
      const results = {
        ...{ n: questions, samplesPerTask: set.samples, errors: { n: 0, byCode: {} } },
        ...{ metrics: { em, f1: em }, intervals: { em: null }, intervalMethods: {}, groups: {} },
        ...{ ends: {}, fingerprint: "f0", protocol, policy: { from: `models/${place}` } },
        ...{ readsGold: false, dataset: set.dataset, strategy: "agent", seed: 1, ...changed },
      };
      writeFileSync(join(folder, "results.json"), JSON.stringify(results));
    });
  };
}

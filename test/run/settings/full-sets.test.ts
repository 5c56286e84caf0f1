import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ErrorCode } from "../../../src/base/errors.ts";
import { setsOf } from "../../../src/run/evaluation-sets.ts";
import { parseRecipe } from "../../../src/run/settings/recipe-file.ts";
import { toYaml } from "../../../src/run/settings/resolved-yaml.ts";
import { settingsSchema } from "../../../src/run/settings/settings-schema.ts";
import { checkSettings, parseSet, resolveSettings } from "../../../src/run/settings/settings.ts";
import { errorWith } from "../../helpers/error-with.ts";
import "../../helpers/all-parts.ts";

const BASE = `summary: Sets.
base:
  environment: { name: search-qa, prompt: "{question}" }
  models: { reader: { from: base } }
  budgets: [{ scope: turn, unit: tokens, limit: 20, onExhausted: cut }]
  evaluation:
    dataset: { name: files, tasks: ./held.jsonl, corpus: ./passages.jsonl }
    during: { every: 5 }
`;

function resolved(sets: string, flags: string[] = []) {
  const text = `${BASE}    sets:\n${sets.replaceAll(/^/gm, "      ")}\ntiers: { mini: {} }\n`;
  const overrides = flags.map(parseSet);
  const recipe = parseRecipe(text, "recipes/a.yaml");
  return checkSettings(settingsSchema, resolveSettings(recipe, { tier: "mini", overrides }));
}

const evaluationOf = (sets: string, flags?: string[]) => {
  const [found] = setsOf(resolved(sets, flags).settings);
  if (found === undefined) throw new Error("no set");
  return found.settings;
};

describe("evaluation.sets", () => {
  it("lays a set over the run's own evaluation, environment and models", () => {
    const settings = evaluationOf(`more:
  dataset: { corpus: ./other.jsonl }
  environment: { prompt: "Q {question}" }
  models: { judge: { from: literate } }
  samplesPerTask: 4`);
    expect(settings.evaluation).toMatchObject({
      dataset: {
        name: "files",
        tasks: join("recipes", "held.jsonl"),
        corpus: join("recipes", "other.jsonl"),
      },
      strategy: { name: "agent" },
      sampling: { temperature: 0 },
      samplesPerTask: 4,
    });
    expect(settings.evaluation.during).toBeUndefined();
    expect(settings.environment).toMatchObject({ name: "search-qa", prompt: "Q {question}" });
    expect(Object.keys(settings.models ?? {})).toEqual(["reader", "judge"]);
    expect(settings.budgets).toEqual(resolved("more: { samplesPerTask: 2 }").settings.budgets);
  });

  it("replaces what selects another part, and takes over defaults that the recipe does not state", () => {
    const other = evaluationOf("far: { dataset: { name: tinyworld, questions: 3 } }");
    expect(other.evaluation.dataset).toMatchObject({ name: "tinyworld", questions: 3 });
    expect(other.evaluation.dataset).not.toHaveProperty("tasks");
    expect(evaluationOf("warm: { sampling: { topK: 5 } }").evaluation.sampling).toMatchObject({
      temperature: 0,
      topK: 5,
    });
  });

  it("keeps where values of a set come from, and takes further ones from flags", () => {
    const sets = "more: { dataset: { corpus: ./other.jsonl } }";
    const { origins, settings } = resolved(sets, ["evaluation.sets.more.dataset.tasks=/t.jsonl"]);
    const at = (key: string) => origins.get(`evaluation.sets.more.dataset.${key}`);
    expect([at("tasks"), at("corpus"), at("name")]).toEqual([
      ...["--set", "recipes/a.yaml:10", "recipes/a.yaml:7"],
    ]);
    expect(settings.evaluation.sets?.["more"]?.dataset).toMatchObject({ tasks: "/t.jsonl" });
  });

  it("reads its written settings as the same ones", () => {
    const once = resolved("more: { dataset: { corpus: ./other.jsonl }, budgets: [] }");
    const again = parseRecipe(toYaml(once, "recipes"), "recipes/b.yaml");
    const { settings } = checkSettings(settingsSchema, resolveSettings(again, { tier: "mini" }));
    expect(settings.evaluation).toEqual(once.settings.evaluation);
  });

  it.each<[string, ErrorCode, string[]]>([
    ["More: { samplesPerTask: 2 }", "RECIPE_BAD_VALUE", ["evaluation.sets.More"]],
    ["more: {}", "RECIPE_BAD_VALUE", ["evaluation.sets.more", "at least one setting"]],
    ["more:", "RECIPE_BAD_VALUE", ["evaluation.sets.more"]],
    ["more: { datset: a }", "RECIPE_UNKNOWN_KEY", ["evaluation.sets.more.datset", '"dataset"']],
    ["more: { dataset: hotpot }", "PART_UNKNOWN", ["recipes/a.yaml:10", "sets.more.dataset"]],
    ["more: { samplesPerTask: 0 }", "RECIPE_BAD_VALUE", ["evaluation.sets.more.samplesPerTask"]],
  ])("refuses %s", (sets, code, parts) => {
    for (const part of parts) expect(() => resolved(sets)).toThrow(errorWith(code, part));
  });
});

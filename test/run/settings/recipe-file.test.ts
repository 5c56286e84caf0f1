import { describe, expect, it } from "vitest";
import type { ConfigError } from "../../../src/base/errors.ts";
import { checkUnits, paperCells } from "../../../src/run/claims.ts";
import {
  loadRecipe,
  parseRecipe,
  selectTier,
  tiersOf,
} from "../../../src/run/settings/recipe-file.ts";
import { naming } from "../../helpers/naming.ts";

const GOOD = `
summary: Search helps.
paper: { id: "2503.09516", title: Search-R1 }
base:
  algorithm: { name: grpo, groupSize: 8 }
tiers:
  smoke: { steps: 2 }
  paper:
paperTables:
  - id: table-2
    metric: em
    model: Qwen2.5-7B
    columns: [nq, hotpotqa]
    rows:
      search-r1: [0.48, 0.433]
      rag: [0.349, null]
claims:
  tests:
    - id: search-helps
      statement: RL with search beats static retrieval.
      metric: em
      relation: search > rag
      arms:
        - { name: search, paperCell: { table: table-2, row: search-r1, column: nq } }
        - { name: rag, set: { environment.name: static-rag } }
      source: section 4.4, table 2
`;

function messageOf(text: string): string {
  try {
    parseRecipe(text, "recipes/a.yaml");
  } catch (error) {
    return `${String(error)} [${(error as ConfigError).code}]`;
  }
  return "no error";
}

describe("parseRecipe", () => {
  it("reads every section and names itself after the file", () => {
    const recipe = parseRecipe(GOOD, "recipes/a.yaml");
    expect(recipe.name).toBe("a");
    expect(recipe.base).toEqual({ algorithm: { name: "grpo", groupSize: 8 } });
    expect(tiersOf(recipe)).toEqual(["smoke", "paper"]);
    expect(recipe.claims.tests[0]?.arms[1]?.set).toEqual({ "environment.name": "static-rag" });
  });

  it("knows the line of every key", () => {
    const recipe = parseRecipe(GOOD, "recipes/a.yaml");
    expect(recipe.place(["base", "algorithm", "groupSize"])).toBe("recipes/a.yaml:5");
    expect(recipe.place(["claims", "tests", "0", "arms", "1"])).toBe("recipes/a.yaml:25");
    expect(recipe.place(["base", "absent"])).toBe("recipes/a.yaml:4");
  });

  it("reports an unknown key with its line and the nearest name", () => {
    expect(messageOf(GOOD.replace("tiers:", "teirs:"))).toMatch(
      naming("recipes/a.yaml:6: teirs", 'Did you mean "tiers"', "[RECIPE_UNKNOWN_KEY]"),
    );
    expect(messageOf(GOOD.replace("smoke:", "smol:"))).toMatch(
      naming("recipes/a.yaml:7: tiers.smol", "[RECIPE_UNKNOWN_KEY]"),
    );
    expect(messageOf(GOOD.replace("relation:", "relations:"))).toMatch(
      naming(
        "recipes/a.yaml:22: claims.tests.0.relations",
        'Did you mean "relation"',
        "[RECIPE_UNKNOWN_KEY]",
      ),
    );
  });

  it("reports text that is not YAML with its line", () => {
    expect(messageOf("summary: x\nbase: { a: 1\ntiers: {}\n")).toMatch(
      naming("recipes/a.yaml:3:", "[RECIPE_NOT_YAML]"),
    );
    expect(messageOf("summary: x\nsummary: y\n")).toMatch(
      naming("recipes/a.yaml:2:", "[RECIPE_NOT_YAML]"),
    );
    expect(messageOf("")).toMatch(naming("recipes/a.yaml:1:", "[RECIPE_BAD_VALUE]"));
  });

  it("reports a relation with an arm that is not there", () => {
    expect(messageOf(GOOD.replace("search > rag", "serach > rag"))).toMatch(
      naming(
        "recipes/a.yaml:22: claims.tests.0.relation",
        '"serach"',
        'Did you mean "search"',
        "[RECIPE_BAD_VALUE]",
      ),
    );
    expect(messageOf(GOOD.replace("search > rag", "search"))).toMatch(
      naming(
        "recipes/a.yaml:22: claims.tests.0.relation",
        '"search"',
        '"a > b"',
        '"a >= b - 0.02"',
        "[RECIPE_BAD_VALUE]",
      ),
    );
  });

  it("reports an arm whose paper cell is not there", () => {
    expect(messageOf(GOOD.replace("column: nq", "column: NQ"))).toMatch(
      naming("recipes/a.yaml:24: claims.tests.0.arms.0.paperCell", "[RECIPE_BAD_VALUE]"),
    );
  });

  it("reports a row whose values do not fill the columns", () => {
    expect(messageOf(GOOD.replace("[0.349, null]", "[0.349]"))).toMatch(
      naming("recipes/a.yaml:16: paperTables.0.rows.rag", "1", "2", "[RECIPE_BAD_VALUE]"),
    );
  });

  it("reports two claims or arms of one name", () => {
    expect(messageOf(GOOD.replace("name: rag", "name: search"))).toMatch(
      naming("recipes/a.yaml:25: claims.tests.0.arms.1.name", '"search"', "[RECIPE_BAD_VALUE]"),
    );
    const claim = GOOD.slice(GOOD.indexOf("    - id: search-helps"));
    expect(messageOf(GOOD + claim)).toMatch(
      naming("recipes/a.yaml:27: claims.tests.1.id", '"search-helps"', "[RECIPE_BAD_VALUE]"),
    );
  });
});

describe("loadRecipe", () => {
  it("says which recipes there are when the name is unknown", async () => {
    await expect(loadRecipe("no-such-recipe")).rejects.toThrow(
      /^recipe is "no-such-recipe"; no such recipe\. /,
    );
  });

  it("says that a file is missing when a path is given", async () => {
    await expect(loadRecipe("./missing.yaml")).rejects.toMatchObject({ code: "RECIPE_MISSING" });
  });
});

describe("selectTier", () => {
  const recipe = parseRecipe(GOOD, "recipes/a.yaml");

  it("takes the smallest tier when none is asked for and there is no mini", () => {
    expect(selectTier(recipe, undefined)).toBe("smoke");
    expect(selectTier(recipe, "paper")).toBe("paper");
  });

  it("prefers mini", () => {
    const mini = parseRecipe(GOOD.replace("  paper:\n", "  mini:\n"), "recipes/a.yaml");
    expect(selectTier(mini, undefined)).toBe("mini");
  });

  it("names the tiers that there are", () => {
    expect(() => selectTier(recipe, "papper")).toThrow(
      naming("recipes/a.yaml:6: --tier", '"papper"', 'Did you mean "paper"'),
    );
  });
});

describe("claims.base", () => {
  it("must be of a tier that the recipe has", () => {
    const text = GOOD.replace("claims:\n", "claims:\n  base: { mini: { steps: 3 } }\n");
    expect(messageOf(text)).toMatch(
      /a\.yaml:18: claims\.base\.mini is of a tier that the recipe does not have\. Known: smoke, paper\..*RECIPE_BAD_VALUE/,
    );
  });
});

describe("a table in percent", () => {
  const inPercent = GOOD.replace("[0.48, 0.433]", "[48, 43.3]");

  it("must say so where an arm's metric is a share", async () => {
    await expect(checkUnits(parseRecipe(inPercent, "recipes/a.yaml"))).rejects.toMatchObject({
      code: "RECIPE_BAD_VALUE",
      message: expect.stringMatching(
        /a\.yaml:24: claims\.tests\.0\.arms\.0\.paperCell is 48, and em is a share.*unit: percent/,
      ) as string,
    });
  });

  it("is read as shares", () => {
    const text = inPercent.replace(
      "metric: em\n    model",
      "metric: em\n    unit: percent\n    model",
    );
    const values = paperCells(parseRecipe(text, "recipes/a.yaml").paperTables).map(
      ({ value }) => value,
    );
    expect(values.slice(0, 2)).toEqual([0.48, 0.433]);
  });
});

describe("paperCells", () => {
  it("lists one cell per value and leaves out what the paper leaves out", () => {
    const cells = paperCells(parseRecipe(GOOD, "recipes/a.yaml").paperTables);
    expect(cells.map(({ system, dataset, value }) => [system, dataset, value])).toEqual([
      ["search-r1", "nq", 0.48],
      ["search-r1", "hotpotqa", 0.433],
      ["rag", "nq", 0.349],
    ]);
    expect(cells[0]).toMatchObject({
      table: "table-2",
      metric: "em",
      model: "Qwen2.5-7B",
      split: null,
    });
  });
});

describe("a relation", () => {
  const related = (relation: string): string =>
    messageOf(GOOD.replace("relation: search > rag", `relation: ${JSON.stringify(relation)}`));

  it.each([
    ["search >= rag", /without a margin.*"search >= rag - 0\.02", or claim >\./],
    ["search <= rag", /without a margin.*"search <= rag \+ 0\.02", or claim <\./],
    ["search = rag", /only tests of role equal-arms have.*"search >= rag - 0\.02"/],
    ["search > search + 0.1", /compares the arm "search" with itself/],
    ["0.2 > 0.1", /compares the numbers 0\.2 and 0\.1; name an arm/],
    ["search > curve.em.steps(0.5)(rag)", /names "curve\.em\.steps\(0\.5\)", which is no figure/],
  ])("%s is refused", (relation, sentence) => {
    expect(related(relation)).toMatch(sentence);
    expect(related(relation)).toMatch(/a\.yaml:22: claims\.tests\.0\.relation .*RECIPE_BAD_VALUE/);
  });

  it.each(["search >= rag - 0.02", "search >= 0.5", "search <= 0.7 * rag", "eval.n(search) < rag"])(
    "%s is read",
    (relation) => {
      expect(related(relation)).toBe("no error");
    },
  );

  it("of equal arms is =", () => {
    const equal = GOOD.replace(
      "metric: em\n      relation",
      "role: equal-arms\n      metric: em\n      relation",
    );
    expect(messageOf(equal)).toMatch(/has >; equal arms are compared by =/);
    expect(messageOf(equal.replace("search > rag", "search = rag"))).toBe("no error");
  });
});

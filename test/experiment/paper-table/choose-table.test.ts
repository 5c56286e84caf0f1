import { expect, it } from "vitest";
import { chooseTable } from "../../../src/experiment/paper-table/choose-table.ts";
import { loadRecipe } from "../../../src/run/settings/recipe-file.ts";
import { errorWith } from "../../helpers/error-with.ts";

const recipe = await loadRecipe("search-r1");
const chosen = (choice: object, policy = "step-500 @ localhost:8000", fits = true): string => {
  const { table } = chooseTable(recipe, choice, { policy, fits: () => fits });
  return `${table.id} ${table.model}`;
};

it("takes the table that is named, else that of the policy's model, else the first", () => {
  expect(chosen({})).toBe("table-2 Qwen2.5-7B");
  expect(chosen({}, "a", false)).toBe("table-2 Qwen2.5-7B");
  expect(chosen({}, "Qwen2.5-3B-mine @ localhost:8000")).toBe("table-2 Qwen2.5-3B");
  expect(chosen({ model: "qwen2.5-3b" })).toBe("table-2 Qwen2.5-3B");
  expect(chosen({ table: "table-4" }, "Qwen2.5-3B")).toBe("table-4 Qwen2.5-7B");
  expect(() => chosen({ table: "table-4", model: "Qwen2.5-3B" })).toThrow(
    errorWith("USAGE", '--model is "Qwen2.5-3B"'),
  );
});

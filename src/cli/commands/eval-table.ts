import { join } from "node:path";
import { quoted } from "../../base/format.ts";
import { defineCommand } from "../command.ts";
import { shown } from "../comparison-format.ts";
import { readMeasuredSets } from "../measured-sets.ts";
import { jsonFlag, options } from "../options.ts";

const OPTIONS = options({
  paper: ["<recipe>", "recipe whose paper has the table, e.g. search-r1"],
  table: [
    "<id>",
    "the table, e.g. table-2 (default: of those with columns for the runs, the one of the policy's model, else the first)",
  ],
  model: ["<name>", "model of the table, where several tables have one id, e.g. Qwen2.5-7B"],
  row: [
    "<name>",
    "row of the paper that ours is compared with (default: the recipe's own, where its claims name one)",
  ],
  metric: [
    "<name>",
    "metric of our row, e.g. f1 (default: the table's; another one is listed as a difference)",
  ],
  name: ["<text>", "name of our row", String, "ours"],
  format: ["<format>", "text, or md for Markdown (default: text)", ["text", "md"]],
  json: jsonFlag(),
});

/** Adds `table` to `agentrl eval`: evaluations as a row of a paper's table. */
export const evalTableCommand = defineCommand({
  name: "table",
  summary: "write a paper's table with your evaluations as one more row",
  description:
    "Write a paper's table with one more row: a cell for each evaluation, and the average of the sets if none is missing, each with " +
    "its 95 % interval; and every difference between their protocol and that of the recipe's tier paper. A column takes the " +
    "evaluation whose dataset is named like it.",
  args: [
    [
      "<runs...>",
      "folders of `agentrl eval --out`, or a folder that holds several; COLUMN=FOLDER names the column",
    ],
  ],
  options: OPTIONS,
  required: ["paper"],
  async run(flags, context, places) {
    const { paper, table, model, row, metric, name, format = "text" } = flags;
    const { loadRecipe } = await import("../../run/settings/recipe-file.ts");
    const { paperTableRow } = await import("../../experiment/paper-table/paper-table.ts");
    const recipe = await loadRecipe(paper);
    const measured = await readMeasuredSets(places, context);
    const found = await paperTableRow(recipe, measured, { table, model, row, metric, name });
    if (flags.json === true) {
      context.out(JSON.stringify(found));
      return;
    }
    const { paperTableBlocks } = await import("../../view/documents/paper-table.ts");
    const { from = "base", model: served } = measured[0]?.policy ?? {};
    const [parent = ""] = places;
    // One dataset is written into --out itself, several into folders in it.
    const outOf = ([first = "", ...more]: readonly string[]): string =>
      measured.some(({ isNamed }) => isNamed)
        ? "FOLDER"
        : more.length > 0
          ? parent
          : join(parent, first);
    const measure = (datasets: readonly string[]): string =>
      [
        ...[context.call, "eval", "--policy", quoted(from)],
        ...(served === undefined ? [] : ["--model", quoted(served)]),
        ...["--dataset", datasets.join(","), "--recipe", quoted(paper), "--tier", "paper"],
        ...["--out", quoted(outOf(datasets))],
      ].join(" ");
    // Answers of a file are to their own questions alone.
    const isFile = measured.some(({ protocol }) => protocol["environment"] === null);
    context.out(shown(paperTableBlocks(found, isFile ? null : measure), format));
  },
});

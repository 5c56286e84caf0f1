import { existsSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DataError } from "../../base/errors.ts";
import { quoted } from "../../base/format.ts";
import { type EvaluationFolders, evaluationsIn } from "../../evaluate/evaluation-folders.ts";
import type { MeasuredSet } from "../../experiment/paper-table/measured-set.ts";
import { type CliContext, defineCommand } from "../command.ts";
import { shown } from "../comparison-format.ts";
import { jsonFlag, options } from "../options.ts";
import { usage } from "../usage.ts";

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
    const measured = await readSets(places, context);
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

type PlacedSet = MeasuredSet & { isNamed: boolean };

/** The evaluations in places, each once. */
async function readSets(places: readonly string[], { note }: CliContext): Promise<PlacedSet[]> {
  const found: { folder: string; column: string | null; isNamed: boolean }[] = [];
  for (const place of places) {
    const { column, path } = placeOf(place);
    const { finished, unfinished } = findEvaluations(path);
    for (const folder of unfinished)
      note(`${folder}: is not finished and left out; \`agentrl resume ${folder}\` continues it.`);
    if (column !== null && finished.length > 1)
      throw usage(
        `${place}: holds ${finished.length} evaluations (${finished.join(", ")}), and a column takes one. Name its folder.`,
      );
    for (const folder of finished)
      found.push({ folder, column, isNamed: column !== null || folder === path });
  }
  const { openResults } = await import("../../view/results-files.ts");
  const { failuresOf } = await import("../../view/results-schema.ts");
  const { readRunFile } = await import("../../run/folder/run-file.ts");
  const files = await openResults(found.map(({ folder }) => folder));
  return Promise.all(
    files.map(async ({ results }, i): Promise<PlacedSet> => {
      const { folder = "", column = null, isNamed = true } = found[i] ?? {};
      const stages = await readRunFile(folder);
      const { limit, shuffle } = stages?.[0]?.options ?? {};
      const { questions } = results.protocol;
      return {
        ...results,
        folder,
        column,
        isNamed,
        samples: results.samplesPerTask,
        asked: typeof questions === "number" ? questions : results.n,
        errors: failuresOf(results).n,
        limit: numberOf(limit),
        shuffle: numberOf(shuffle),
      };
    }),
  );
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** @example placeOf("2Wiki=ev/wiki") // { column: "2Wiki", path: "ev/wiki" } */
function placeOf(place: string): { column: string | null; path: string } {
  const [, column = "", path = ""] = /^([^=]+)=(.+)$/.exec(place) ?? [];
  if (existsSync(place) || column === "") return { column: null, path: place };
  return { column, path };
}

/** @throws {DataError} FILE_MISSING */
function findEvaluations(path: string): EvaluationFolders {
  if (!existsSync(path))
    throw new DataError("FILE_MISSING", `${path}: there is no such file or folder.`);
  const isResults = statSync(path).isFile() && basename(path) === "results.json";
  const found = evaluationsIn(isResults ? dirname(path) : path);
  if (found.finished.length > 0) return found;
  const [interrupted] = found.unfinished;
  const what =
    interrupted === undefined
      ? "neither it nor a folder in it has a results.json"
      : interrupted === path
        ? "the evaluation is not finished: there are rows, and no results.json"
        : `its evaluations are not finished: ${found.unfinished.join(", ")}`;
  const cure =
    interrupted === undefined
      ? "Name a folder that `agentrl eval --out` wrote, or one that holds such folders"
      : `\`agentrl resume ${interrupted}\` continues it`;
  throw new DataError("FILE_MISSING", `${path}: ${what}. ${cure}.`);
}

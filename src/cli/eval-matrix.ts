import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { ConfigError } from "../base/errors.ts";
import { fixed } from "../base/format.ts";
import { renderMarkdown, renderText, type Table } from "../base/table.ts";
import { MATRIX_METRICS, type MatrixRow } from "../recipe/eval-matrix.ts";
import type { MeasuringFlags } from "./eval-flags.ts";

/** One evaluation of several: its flags, and its folder in --out. */
export interface MatrixCell {
  flags: MeasuringFlags;
  folder: string;
  /** Name of its column; undefined: the recipe's dataset. */
  dataset: string | undefined;
}

/**
 * The evaluations that comma-separated lists in --policy, --model and --dataset mean: every policy on every dataset.
 * @throws {ConfigError} USAGE when two cells would have one folder.
 */
export function matrixCells(flags: MeasuringFlags): MatrixCell[] {
  const { policy, model, dataset } = flags;
  const cells = listOf(policy).flatMap((eachPolicy) =>
    listOf(model).flatMap((eachModel) =>
      listOf(dataset).map((eachDataset): MatrixCell => ({
        flags: {
          ...flags,
          ...(eachPolicy === undefined ? {} : { policy: eachPolicy }),
          ...(eachModel === undefined ? {} : { model: eachModel }),
          ...(eachDataset === undefined ? {} : { dataset: eachDataset }),
        },
        dataset: eachDataset === undefined ? undefined : basename(eachDataset),
        folder: join(
          folderName([eachPolicy, eachModel].filter((name) => name !== undefined).join(" ")),
          ...(eachDataset === undefined ? [] : [folderName(eachDataset)]),
        ),
      })),
    ),
  );
  const folders = cells.map(({ folder }) => folder);
  const twice = folders.find((folder, i) => folders.indexOf(folder) < i);
  if (twice === undefined) return cells;
  throw new ConfigError(
    "USAGE",
    `--policy, --model and --dataset name the same evaluation twice (${twice}). Name each once.`,
  );
}

/** A comma-separated list; the path of an existing file may hold a comma. */
function listOf(text: string | undefined): (string | undefined)[] {
  if (text === undefined || existsSync(text)) return [text];
  const items = text.split(",").map((item) => item.trim());
  if (items.every((item) => item !== "")) return items;
  throw new ConfigError(
    "USAGE",
    `"${text}": a list has an empty item. Separate names by single commas.`,
  );
}

function folderName(name: string): string {
  return name.replace(/^https?:\/\//, "").replaceAll(/[^\w.-]+/g, "_") || "base";
}

/** A row per policy; for each dataset, and on average, the scores. */
export function matrixText(rows: readonly MatrixRow[]): string {
  return [
    renderText(tableOf(rows)),
    "",
    "average: mean over datasets, each with the same weight",
  ].join("\n");
}

/** As `matrixText`, in Markdown. */
export function matrixMarkdown(rows: readonly MatrixRow[]): string {
  return renderMarkdown(tableOf(rows));
}

function tableOf(rows: readonly MatrixRow[]): Table {
  const datasets = [...new Set(rows.flatMap((row) => Object.keys(row.datasets)))];
  const format = fixed(3);
  return {
    columns: [
      "policy",
      ...[...datasets, "average"].flatMap((name) =>
        MATRIX_METRICS.map((metric) => ({ label: `${name} ${metric.toUpperCase()}`, format })),
      ),
    ],
    rows: rows.map(({ policy, datasets: of, average }) => [
      policy,
      ...[...datasets.map((name) => of[name]), average].flatMap((scores) =>
        MATRIX_METRICS.map((metric) => scores?.[metric] ?? null),
      ),
    ]),
  };
}

import { existsSync } from "node:fs";
import { join } from "node:path";
import { quoted } from "../../base/format.ts";
import { failuresText, metricNames } from "../../evaluate/evaluation-summary.ts";
import { measureNames, measuresOf } from "../../evaluate/measures.ts";
import { policyLabel } from "../../evaluate/policy-label.ts";
import type { EvalOutcome, EvalResult } from "../../run/run-eval.ts";
import type { Settings } from "../../run/settings/settings-schema.ts";
import type { ResolvedSettings } from "../../run/settings/settings.ts";
import type { Block } from "../../view/document.ts";
import { evaluationBlocks, matrixBlocks, timingsText } from "../../view/documents/scores.ts";
import {
  MATRIX_METRICS,
  matrixOf,
  type MatrixPlace,
  matrixPlaces,
} from "../../view/score-matrix.ts";
import { type CliContext, defineCommand } from "../command.ts";
import { addStrategies, measuringSettings } from "../eval-flags.ts";
import { refuseStray } from "../options.ts";
import { parseRequirement, requireScores } from "../require-scores.ts";
import {
  answerWarnings,
  EVAL_OPTIONS,
  type EvalFlags,
  formatOf,
  requireComplete,
  requireUncut,
  runEvaluation,
  withRowsFolder,
} from "../run-evaluation.ts";
import { usage } from "../usage.ts";
import { writeReport } from "./eval-report.ts";

/** Adds `agentrl eval policy`, which is also `agentrl eval`. */
export const evalPolicy = defineCommand({
  name: "policy",
  isDefault: true,
  summary: "measure a policy on questions (the default: `agentrl eval --policy …`)",
  description:
    "Measure a policy on questions: em, f1, cover_em, searches, by hops and question type. Environment and " +
    "budgets come from a recipe; flags win over it. Comma-separated lists in --policy, --model and --dataset measure every " +
    "policy on every dataset and show one table with the averages.",
  options: EVAL_OPTIONS,
  more(command, context) {
    for (const option of command.options.filter(({ long }) => LISTS.includes(long ?? "")))
      option.description += "; several: comma-separated";
    return addStrategies(command, context);
  },
  run: evaluate,
});

/** Options that take several names. */
const LISTS: readonly string[] = ["--policy", "--model", "--dataset"];

async function evaluate(flags: EvalFlags, context: CliContext): Promise<void> {
  if (flags.out === undefined) refuseStray(flags, ["resume"], "--out, whose rows it continues");
  const cells = matrixCells(flags);
  if (cells.length > 1) {
    await evaluateMatrix(cells, flags, context);
    return;
  }
  await evaluateResolved(await measuringSettings(flags, context), flags, context);
}

/** An evaluation with settings that are known, and what is said of it. */
export async function evaluateResolved(
  resolved: ResolvedSettings<Settings>,
  flags: EvalFlags,
  context: CliContext,
): Promise<void> {
  const { samplesPerTask, sampling } = resolved.settings.evaluation;
  const own = measureNames(measuresOf(resolved.settings));
  const names = [...metricNames(samplesPerTask), ...own];
  const requirements = (flags.require ?? []).map((text) => parseRequirement(text, names));
  if (samplesPerTask > 1 && sampling.temperature === 0)
    context.note(
      `All ${samplesPerTask} draws of a question are alike at temperature 0: set --temperature.`,
    );
  const { out } = flags;
  const format = formatOf(flags);
  const outcome = await withRowsFolder(flags, async (folder) => {
    const measured = await runEvaluation(resolved, flags, folder, context);
    if (format === undefined) context.out(evaluationBlocks(measured.result));
    else if (format === "json") context.out(asJson(measured, out));
    else if (folder !== undefined) await writeReport([folder], { format }, context);
    return measured;
  });
  const { result, timings, requests } = outcome;
  const { errors, metrics } = result;
  context.note(timingsText(timings, requests));
  if (out !== undefined) context.note(`written to ${join(out, "results.json")}`);
  for (const warning of answerWarnings(outcome, resolved.settings)) context.note(warning);
  requireUncut(result, resolved.settings);
  requireComplete(errors, flags);
  requireScores(requirements, metrics);
}

function asJson({ result, timings, requests }: EvalOutcome, out: string | undefined): string {
  const asked = requests === undefined ? {} : { requests };
  return JSON.stringify({ ...result, timings, ...asked, out });
}

/** One evaluation of several. */
interface MatrixCell {
  /** Flags that differ from those of the other cells. */
  flags: Pick<EvalFlags, "policy" | "model" | "dataset">;
  /** Names as given; undefined: the recipe's. */
  place: { policy: string | undefined; dataset: string | undefined };
  /** In --out. */
  folder: string;
}

/**
 * The evaluations that comma-separated lists in --policy, --model and --dataset mean: every policy on every dataset.
 * @throws {ConfigError} USAGE when two cells would have one folder.
 */
export function matrixCells(flags: MatrixCell["flags"]): MatrixCell[] {
  const cells = listOf(flags.policy).flatMap((policy) =>
    listOf(flags.model).flatMap((model) =>
      listOf(flags.dataset).map((dataset) => cellOf(policy, model, dataset)),
    ),
  );
  const folders = cells.map(({ folder }) => folder);
  const twice = folders.find((folder, i) => folders.indexOf(folder) < i);
  if (twice === undefined) return cells;
  throw usage(
    `--policy, --model and --dataset name the same evaluation twice (${twice}). Name each once.`,
  );
}

function cellOf(
  policy: string | undefined,
  model: string | undefined,
  dataset: string | undefined,
): MatrixCell {
  const subject = [policy, model].filter((name) => name !== undefined);
  return {
    flags: { policy, model, dataset },
    place: { policy: subject.length === 0 ? undefined : subject.toReversed().join(" @ "), dataset },
    folder: join(
      folderName(subject.join(" ")),
      ...(dataset === undefined ? [] : [folderName(dataset)]),
    ),
  };
}

/** A comma-separated list; the path of an existing file may hold a comma. */
function listOf(text: string | undefined): (string | undefined)[] {
  if (text === undefined || existsSync(text)) return [text];
  const items = text.split(",").map((item) => item.trim());
  if (items.every((item) => item !== "")) return items;
  throw usage(`"${text}": a list has an empty item. Separate names by single commas.`);
}

function folderName(name: string): string {
  return name.replace(/^https?:\/\//, "").replaceAll(/[^\w.-]+/g, "_") || "base";
}

/** Evaluates every policy on every dataset, each in its own folder of --out; --require and the exit status are those of all. */
async function evaluateMatrix(
  cells: readonly MatrixCell[],
  flags: EvalFlags,
  context: CliContext,
): Promise<void> {
  const requirements = (flags.require ?? []).map((text) => parseRequirement(text, MATRIX_METRICS));
  const format = formatOf(flags);
  const noted = new Set<string>();
  const noteOnce = (text: string): void => {
    if (!noted.has(text)) context.note(text);
    noted.add(text);
  };
  const papers = new Set<string>();
  const { measured, places, rows } = await withRowsFolder(flags, async (root) => {
    const done: (EvalOutcome & { settings: Settings })[] = [];
    for (const [i, { flags: own, place, folder }] of cells.entries()) {
      const names = Object.values(place).filter((name) => name !== undefined);
      context.note(`${i + 1} of ${cells.length}: ${names.join(" on ")}`);
      const resolved = await measuringSettings({ ...flags, ...own }, { note: noteOnce });
      const { recipe, tier } = resolved;
      if (tier === "paper" && recipe.paperTables.length > 0)
        papers.add(flags.recipe ?? recipe.name);
      const at = root === undefined ? undefined : join(root, folder);
      const outcome = await runEvaluation(resolved, { ...flags, ...own }, at, context);
      done.push({ ...outcome, settings: resolved.settings });
    }
    const results = done.map(({ result }) => result);
    const named = matrixPlaces(results) ?? results.map((result, i) => placeOf(cells[i], result));
    const matrix = matrixOf(results, named);
    if (format === undefined)
      context.out([...matrixBlocks(matrix), ...failureNotes(results, named)]);
    else if (format === "json") context.out(JSON.stringify({ matrix, cells: results }));
    else if (root !== undefined) {
      const folders = cells.map(({ folder }) => join(root, folder));
      await writeReport(folders, { format }, context);
    }
    return { measured: done, places: named, rows: matrix };
  });
  for (const paper of flags.out === undefined ? [] : papers)
    context.note(
      `The paper's table with these results: ${context.call} eval table ${quoted(flags.out ?? "")} --paper ${quoted(paper)}`,
    );
  for (const [i, { settings, ...outcome }] of measured.entries()) {
    const { policy = "", dataset = "" } = places[i] ?? {};
    for (const warning of answerWarnings(outcome, settings))
      context.note(`${policy} on ${dataset}: ${warning}`);
  }
  for (const { settings, result } of measured) {
    requireUncut(result, settings);
    requireComplete(result.errors, flags);
  }
  for (const { average } of rows) requireScores(requirements, average);
}

/** Place by the flags, for results whose own names are not unique: two splits of the tiny world. */
function placeOf(cell: MatrixCell | undefined, result: EvalResult): MatrixPlace {
  const { policy = policyLabel(result.policy), dataset = result.dataset } = cell?.place ?? {};
  return { policy, dataset };
}

function failureNotes(results: readonly EvalResult[], places: readonly MatrixPlace[]): Block[] {
  return results.flatMap(({ errors }, i): Block[] => {
    const { policy = "", dataset = "" } = places[i] ?? {};
    if (errors.n === 0) return [];
    return [{ kind: "warning", text: `${policy} on ${dataset}: ${failuresText(errors)}` }];
  });
}

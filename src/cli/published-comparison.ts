import { quote } from "../base/schema.ts";
import { isShare } from "../evaluate/metrics/metric-columns.ts";
import type { ComparedRun, Side } from "../experiment/compare/compared-run.ts";
import { gapTo, measurementOf } from "../experiment/compare/published-gap.ts";
import { publishedCells, publishedSetup } from "../experiment/published.ts";
import type { PaperCell } from "../run/claims.ts";
import { loadRecipe } from "../run/settings/recipe-file.ts";
import { publishedBlocks, type PublishedComparison } from "../view/documents/comparison.ts";
import type { CliContext } from "./command.ts";
import { shown } from "./comparison-format.ts";
import type { EvalCompareFlags } from "./eval-compare-flags.ts";
import { usage } from "./usage.ts";

/** Compares one side with a paper's tables or a number, and prints the result. */
export async function comparePublished(
  side: Side,
  flags: EvalCompareFlags,
  context: CliContext,
): Promise<void> {
  const { paper, format = "text" } = flags;
  const found =
    paper === undefined ? againstNumber(side, flags) : await againstPaper(side, paper, flags);
  if (flags.json === true) context.out(JSON.stringify({ comparisons: found }));
  else context.out(shown(found.flatMap(publishedBlocks), format));
}

function againstNumber(side: Side, flags: EvalCompareFlags): PublishedComparison[] {
  const { metrics = ["em"], published = 0, n = null, seed = 0 } = flags;
  return metrics.map((metric) => {
    const ours = measurementOf(side, metric, seed);
    if (published > 1 && isShare(metric))
      throw usage(
        `--published is ${published}; ${metric} is a share from 0 to 1. Papers often give percent: write 48.0 as .480.`,
      );
    const gap = gapTo({ value: published, n }, ours);
    const differences = n === null || n === ours.n ? [] : [sizes(ours.n, n)];
    const unseen = ["model", "corpus", "retriever", "top-k", "prompt"];
    return { run: side.name, ours, gaps: [{ ...gap, cell: null, n }], differences, unseen };
  });
}

async function againstPaper(
  side: Side,
  paper: string,
  flags: EvalCompareFlags,
): Promise<PublishedComparison[]> {
  const { metrics = ["em", "f1"], column, row, n = null, seed = 0 } = flags;
  const recipe = await loadRecipe(paper);
  const [run] = side.runs;
  const dataset = run?.facts.dataset;
  const cells = publishedCells(recipe, { metrics, column, dataset, row });
  const setup = publishedSetup(recipe);
  return [...new Set(cells.map(({ metric }) => metric))].map((metric) => {
    const ours = measurementOf(side, metric, seed);
    const own = cells.filter((cell) => cell.metric === metric);
    const gaps = own.map((cell) => ({ ...gapTo({ value: cell.value, n }, ours), cell, n }));
    const visible = run === undefined ? NOTHING : visibleDifferences(run, own, setup);
    const counts = n === null || n === ours.n ? [] : [sizes(ours.n, n)];
    return {
      run: side.name,
      ours,
      gaps,
      differences: [...visible.differences, ...counts],
      unseen: [...visible.unseen, "corpus", "retriever", "prompt", ...(n === null ? ["n"] : [])],
    };
  });
}

const NOTHING: Pick<PublishedComparison, "differences" | "unseen"> = {
  differences: [],
  unseen: [],
};

/** Model, data set and top-k, if both sides have them. */
function visibleDifferences(
  { facts, protocol }: ComparedRun,
  cells: readonly PaperCell[],
  setup: Readonly<Record<string, unknown>>,
): Pick<PublishedComparison, "differences" | "unseen"> {
  const found: Pick<PublishedComparison, "differences" | "unseen"> = {
    differences: [],
    unseen: [],
  };
  const hold = (part: string, ours: string | undefined, theirs: readonly string[]): void => {
    if (ours === undefined || theirs.length === 0) found.unseen.push(part);
    else if (!theirs.some((each) => ours.toLowerCase().includes(each.toLowerCase())))
      found.differences.push({ part, ours, theirs: theirs.join(" or ") });
  };
  const models = cells.flatMap(({ model }) => model ?? []);
  hold("model", facts.policy, [...new Set(models)]);
  hold("dataset", facts.dataset, [...new Set(cells.map(({ dataset }) => dataset))]);
  const topK = (protocol?.["topK"] ?? {}) as Record<string, unknown>;
  for (const part of new Set([...Object.keys(setup), ...Object.keys(topK)])) {
    const [ours, theirs] = [topK[part], setup[part]];
    if (ours === undefined || theirs === undefined) found.unseen.push(part);
    else if (ours !== theirs)
      found.differences.push({ part, ours: quote(ours), theirs: quote(theirs) });
  }
  return found;
}

function sizes(ours: number, theirs: number): PublishedComparison["differences"][number] {
  return { part: "questions", ours: String(ours), theirs: String(theirs) };
}

import { existsSync } from "node:fs";
import { writeFileAtomic } from "../../base/files.ts";
import {
  type ChangedQuestion,
  compareRuns,
  type Comparison,
} from "../../experiment/compare/compare-runs.ts";
import { type Side, sideOf } from "../../experiment/compare/compared-run.ts";
import { copiedRun, COPY } from "../../experiment/compare/copied-run.ts";
import { readComparedRun } from "../../experiment/compare/read-compared-run.ts";
import { comparisonBlocks } from "../../view/documents/comparison.ts";
import { claimOutput, refuseOwnInput } from "../claim-output.ts";
import { type CliContext, defineCommand } from "../command.ts";
import { shown } from "../comparison-format.ts";
import { COMPARE_OPTIONS, type EvalCompareFlags } from "../eval-compare-flags.ts";
import { comparePublished } from "../published-comparison.ts";
import { usage } from "../usage.ts";

/** Adds `compare` to `agentrl eval`: compares two runs on the same questions, or a run with a published number. */
export const evalCompareCommand = defineCommand({
  name: "compare",
  summary: "test one run against others on the same questions, or against a paper's numbers",
  description:
    "Test the first run against each of the others on the questions that they share: differences with 95 % intervals, " +
    "permutation and McNemar's test, effect sizes, the smallest difference that could be seen, by hops and question type. " +
    "A run is a folder of `agentrl eval --out` or `agentrl train`, a file of rows, or a file of predictions. Several runs " +
    "(seeds) of one system are joined by commas: a1,a2,a3 b1,b2,b3. The name copy is a baseline without a model: yes to a question " +
    "that begins with a verb, else the first name in the question.",
  args: [["<runs...>", "the run to test, then the runs to compare it with"]],
  options: COMPARE_OPTIONS,
  async run(flags, context, given) {
    const { paper, published, seed = 0, format = "text" } = flags;
    const wantsPublished = paper !== undefined || published !== undefined;
    checkGiven(given, flags, wantsPublished);
    if (flags.changed !== undefined) {
      const runs = given.flatMap((side) => side.split(","));
      refuseOwnInput(flags.changed, runs, "--changed");
      claimOutput(flags.changed, flags.overwrite);
    }
    const sides: Side[] = [];
    for (const name of given) {
      const [left] = sides.flatMap((side) => side.runs);
      const isCopy = name === COPY && left !== undefined && !existsSync(name);
      sides.push(isCopy ? sideOf([copiedRun(left)]) : await readSide(name, flags));
    }
    context.signal.throwIfAborted();
    const [first] = sides;
    if (wantsPublished && first !== undefined) {
      await comparePublished(first, flags, context);
      return;
    }
    const { metrics, across = [], answers } = flags;
    const comparison = compareRuns(sides, { metrics, across, answers, seed });
    if (flags.json === true) context.out(JSON.stringify(asJson(comparison, seed)));
    else context.out(shown(comparisonBlocks(comparison), format));
    if (flags.changed !== undefined) await writeChanged(flags.changed, comparison, context);
  },
});

function checkGiven(
  given: readonly string[],
  { paper, published, n, column, row, changed, across, answers }: EvalCompareFlags,
  wantsPublished: boolean,
): void {
  const problems = [
    ...(paper !== undefined && published !== undefined
      ? ["--paper and --published exclude each other: name one."]
      : []),
    ...(wantsPublished && given.length > 1
      ? [
          `--paper and --published take one run; ${given.length} were named. Join seeds of one system by commas.`,
        ]
      : []),
    ...(wantsPublished && (changed !== undefined || across !== undefined)
      ? ["--changed and --across need a second run; a published number has no questions."]
      : []),
    ...(!wantsPublished && given.length < 2
      ? ["only one run is given: give a second run, or --paper, or --published."]
      : []),
    ...(wantsPublished && answers !== undefined
      ? ["--answers needs a second run; a published number is of all questions."]
      : []),
    ...(!wantsPublished && n !== undefined ? ["--n belongs to --published and --paper."] : []),
    ...(paper === undefined && (column ?? row) !== undefined
      ? ["--column and --row belong to --paper."]
      : []),
  ];
  if (problems.length > 0) throw usage(problems.join(" "));
}

/** A run, or several, comma-separated; an existing file with a comma in its name is one run. */
async function readSide(name: string, fields: EvalCompareFlags): Promise<Side> {
  const paths = existsSync(name) ? [name] : name.split(",").filter((path) => path !== "");
  const { predictionField, referencesField, references, idField } = fields;
  const runs = [];
  for (const path of paths)
    runs.push(
      await readComparedRun(path, { predictionField, referencesField, references, idField }),
    );
  return sideOf(runs);
}

function asJson({ comparisons, protocol, tests, readsGold }: Comparison, seed: number): object {
  return {
    comparisons: comparisons.map(({ changed, ...rest }) => ({
      ...rest,
      changed: {
        metric: rest.metrics[0]?.metric ?? null,
        gained: idsOf(changed, "gained"),
        lost: idsOf(changed, "lost"),
      },
    })),
    protocol,
    tests,
    seed,
    readsGold: readsGold ? readsGold : undefined,
  };
}

function idsOf(changed: readonly ChangedQuestion[], change: ChangedQuestion["change"]): string[] {
  return changed.filter((each) => each.change === change).map(({ id }) => id);
}

async function writeChanged(
  file: string,
  { comparisons }: Comparison,
  context: CliContext,
): Promise<void> {
  const lines = comparisons.flatMap(({ left, right, changed }) =>
    changed.map((each) =>
      JSON.stringify({
        ...each,
        left: { run: left, ...each.left },
        right: { run: right, ...each.right },
      }),
    ),
  );
  await writeFileAtomic(file, lines.map((line) => `${line}\n`).join(""));
  context.note(`${lines.length} changed questions written to ${file}`);
}

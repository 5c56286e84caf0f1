import { existsSync } from "node:fs";
import { join } from "node:path";
import { InvalidArgumentError } from "commander";
import type { EvaluationSummary } from "../../evaluate/evaluation-summary.ts";
import { loadRecipe, selectTier } from "../../recipe/settings/recipe-file.ts";
import type { ArmRun } from "../../recipe/reproduce.ts";
import { parseSet } from "../../recipe/settings/settings.ts";
import { fixedSeeds, SEEDS_BY_RULE } from "../../evaluate/claims/looks.ts";
import type { CliCommand, CliContext } from "../command.ts";
import { jsonOption, outOption, pluginOption, setOption, wholeNumber } from "../options.ts";
import { packageVersion } from "../package-info.ts";
import { type Progress, startProgress } from "../progress.ts";
import type { ReproducedRun } from "../reproduction-files.ts";
import { reproductionText } from "../reproduction-text.ts";

interface ReproduceFlags {
  tier?: string;
  seeds?: number[];
  set?: string[];
  plugin?: string[];
  out?: string;
  json?: true;
}

/**
 * Makes the results of one run of an arm; claims name its numbers by dotted paths.
 * @param folder the run's own, below --out.
 */
export type RunArm = (run: ArmRun, folder: string, context: CliContext) => Promise<unknown>;

/** `agentrl reproduce`: a recipe's claims, run over seeds, beside the paper's numbers. */
export function makeReproduceCommand(runArm: RunArm): CliCommand {
  return {
    name: "reproduce",
    register(program, context) {
      program
        .command("reproduce")
        .summary("run a recipe's claims over seeds, beside the paper's numbers")
        .description(
          "Run every arm of a recipe's claims with several seeds and say whether each claim is supported, not supported or " +
            "inconclusive. The folder gets results.json, a page (report.html) and its text (report.md). The same command resumes an " +
            "interrupted reproduction.",
        )
        .argument("<recipe>", "name of a shipped recipe, or a path")
        .option(
          "--tier <tier>",
          "size of the run: smoke (seconds), mini (minutes on a CPU), paper (published settings); default: mini where the recipe has it",
        )
        .option(
          "--seeds <n>",
          "runs per arm, or comma-separated seeds, e.g. 4,5,6 (default: 3, then 5 and 8 while a claim is open; docs/reproducing.md)",
          seedList,
        )
        .addOption(setOption())
        .addOption(pluginOption())
        .addOption(outOption("folder of the results; runs/reproduce-<recipe>-<tier> when absent"))
        .addOption(jsonOption())
        .action((recipe: string, flags: ReproduceFlags) => run(recipe, flags, runArm, context));
    },
  };
}

/** Trains the recipe on this machine; the result is one run. */
export const reproduceCommand = makeReproduceCommand(train);

async function run(
  name: string,
  flags: ReproduceFlags,
  runArm: RunArm,
  context: CliContext,
): Promise<void> {
  const { reproduce } = await import("../../recipe/reproduce.ts");
  const { armQuestions } = await import("../../recipe/arm-questions.ts");
  const recipe = await loadRecipe(name, flags.plugin);
  const tier = selectTier(recipe, flags.tier);
  const out = flags.out ?? join("runs", `reproduce-${recipe.name}-${tier}`);
  const runs: ReproducedRun[] = [];
  const result = await reproduce(recipe, {
    ...{ tier, out, version: packageVersion(), signal: context.signal },
    plan: flags.seeds === undefined ? SEEDS_BY_RULE : fixedSeeds(flags.seeds),
    overrides: (flags.set ?? []).map(parseSet),
    run: (each) => runArm(each, folderOf(out, each), context),
    questionsOf: (each, metric) => armQuestions(folderOf(out, each), metric),
    onArm: ({ run: each, number, total, kept }) => {
      runs.push({ arms: each.arms, folder: folderOf(out, each) });
      const what = `${each.arms.join(", ")}, seed ${each.seed}`;
      context.note(`run ${number}/${total}: ${what}${kept ? " (done before)" : ""}`);
    },
  });
  const { writeReproductionFiles } = await import("../reproduction-files.ts");
  const written = await writeReproductionFiles(result, runs, out);
  if (flags.json === true) context.out(JSON.stringify({ ...result, out }));
  else context.out(reproductionText(result, "text"));
  for (const path of [join(out, "results.json"), ...written]) context.note(`written to ${path}`);
}

/** @example seedList("3") // [1, 2, 3]; seedList("4,7") // [4, 7] */
function seedList(text: string): number[] {
  if (!text.includes(","))
    return Array.from({ length: wholeNumber(1, 1000)(text) }, (_, i) => i + 1);
  const seeds = text.split(",").map((each) => wholeNumber(0)(each.trim()));
  if (new Set(seeds).size === seeds.length) return seeds;
  throw new InvalidArgumentError("It names a seed twice.");
}

/** `search-seed1-3f0c91be6a27`: an arm's name for people, and the key of its settings. */
function folderOf(out: string, { arms, seed, key }: ArmRun): string {
  const arm = arms[0]?.split("/")[1] ?? "run";
  return join(out, "runs", `${arm}-seed${seed}-${key}`);
}

/** Trains an arm; its results as `agentrl train --json` prints them. */
async function train({ settings }: ArmRun, folder: string, context: CliContext): Promise<unknown> {
  const { runRecipe } = await import("../../recipe/run-recipe.ts");
  const watch: { progress: Progress | null } = { progress: null };
  let stage = "";
  const begin = (label: string, total: number, unit: string): void => {
    watch.progress?.stop();
    watch.progress = startProgress(context, { label, total, unit });
  };
  try {
    const {
      steps,
      wallSeconds,
      eval: evaluations,
      stages,
    } = await runRecipe(settings, {
      ...{ out: folder, version: packageVersion(), signal: context.signal },
      // Left by an interrupted reproduction.
      resume: existsSync(folder),
      onEvaluationStart: (name, questions) => {
        begin(`evaluating ${name}`, questions, "questions");
      },
      onEvaluationProgress: ({ done, em }) => watch.progress?.update(done, `EM ${em.toFixed(3)}`),
      onStage: ({ name }) => {
        stage = name;
        watch.progress?.stop();
        watch.progress = null;
      },
      onStageProgress: ({ done, total, note }) => {
        if (watch.progress === null)
          begin(stage, total ?? 0, total === null ? "questions" : "steps");
        watch.progress?.update(done, note);
      },
      onStep: ({ step, totalSteps, metrics }) => {
        if (step === 1) begin("training", totalSteps, "steps");
        watch.progress?.update(step, `reward ${(metrics["rollout/reward_mean"] ?? 0).toFixed(3)}`);
      },
    });
    const { before, after } = evaluations;
    const facts = stages?.map(({ name, facts: found }) => [name, found] as const);
    return {
      ...{ steps, wallSeconds, eval: { before: flat(before), after: flat(after) } },
      // The last of several stages with one name.
      ...(facts === undefined ? {} : { stages: Object.fromEntries(facts) as object }),
    };
  } finally {
    watch.progress?.stop();
  }
}

function flat({ n, metrics, groups }: EvaluationSummary): unknown {
  return { n, ...metrics, groups };
}

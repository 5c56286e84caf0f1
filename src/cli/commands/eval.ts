import { join } from "node:path";
import { type Command, Option } from "commander";
import { metricNames } from "../../evaluate/evaluation-summary.ts";
import type { EvalResult } from "../../recipe/run-eval.ts";
import type { Override, ResolvedSettings } from "../../recipe/settings.ts";
import type { Settings } from "../../recipe/settings-schema.ts";
import { strategies } from "../../rollout/strategies/index.ts";
import type { CliCommand, CliContext } from "../command.ts";
import { evaluationText } from "../evaluation-text.ts";
import { watchDownload } from "../model-download.ts";
import {
  decimal,
  deviceOption,
  jsonOption,
  outOption,
  seedOption,
  setOption,
  wholeNumber,
} from "../options.ts";
import { type Progress, startProgress } from "../progress.ts";
import { settingsOf } from "../recipe-options.ts";
import { parseRequirement, requireScores } from "../require-scores.ts";
import { addEvalRetrieval } from "./eval-retrieval.ts";

interface EvalFlags {
  policy?: string;
  dataset?: string;
  index?: string;
  strategy?: string;
  limit?: number;
  samples?: number;
  temperature?: number;
  recipe?: string;
  tier?: string;
  device?: string;
  seed?: number;
  set?: string[];
  out?: string;
  resume?: true;
  require?: string[];
  json?: true;
}

/** `agentrl eval`: a policy on questions; `agentrl eval retrieval`: an index on judged queries. */
export const evalCommand: CliCommand = {
  name: "eval",
  register(program, context) {
    const family = program
      .command("eval")
      .summary("measure a policy on questions, or a retriever on queries")
      .description(
        "Measure; nothing is trained. Without a subcommand it is `eval policy`: its options are listed by " +
          "`agentrl eval policy --help`.",
      );
    const policy = family
      .command("policy", { isDefault: true })
      .summary("measure a policy on questions (the default: `agentrl eval --policy …`)")
      .description(
        "Measure a policy on questions: em, f1, cover_em, searches, by hops and question type. Environment and " +
          "budgets come from a recipe; flags win over it.",
      );
    addPolicyOptions(policy);
    addOutputOptions(policy);
    policy.action((flags: EvalFlags) => evaluate(flags, context));
    addEvalRetrieval(family, context);
  },
};

function addPolicyOptions(command: Command): void {
  command
    .option(
      "--policy <name>",
      "Hugging Face folder, or org/name[@revision] of the hub; base: the one that is shipped (the default)",
    )
    .option("--dataset <name>", "question file in any known layout, or tinyworld (the default)")
    .option(
      "--index <folder>",
      "made by `agentrl index build`; without it BM25 over the dataset's own passages",
    )
    .addOption(
      new Option(
        "--strategy <name>",
        strategies.parts.map(({ name, summary }) => `${name}: ${summary}`).join(" "),
      ).choices(strategies.names),
    )
    .option("--limit <n>", "at most so many questions, from the start", wholeNumber(1))
    .option("--temperature <t>", "0: the likeliest token (the default)", decimal(0))
    .option("--samples <k>", "draws per question, for avg@k and pass@k", wholeNumber(1))
    .option("--recipe <name>", "recipe that sets the environment (default: search-r1)")
    .option("--tier <tier>", "smoke, mini or paper; mini where there is one")
    .addOption(deviceOption())
    .addOption(setOption())
    .addOption(seedOption());
}

function addOutputOptions(command: Command): void {
  command
    .addOption(outOption("folder for rows.jsonl, trajectories.jsonl and results.json"))
    .option("--resume", "go on with the rows that --out holds")
    .option(
      "--require <condition>",
      'fail with status 5 unless it holds, e.g. "em>=0.5"; repeatable',
      (text: string, before: string[] | undefined) => [...(before ?? []), text],
    )
    .addOption(jsonOption());
}

/** The recipe that sets the environment when none is named. */
const DEFAULT_RECIPE = "search-r1";

async function evaluate(flags: EvalFlags, context: CliContext): Promise<void> {
  const resolved = await evalSettings(flags);
  const { samplesPerTask, sampling } = resolved.settings.evaluation;
  const names = metricNames(samplesPerTask);
  const requirements = (flags.require ?? []).map((text) => parseRequirement(text, names));
  if (samplesPerTask > 1 && sampling.temperature === 0) {
    context.note(
      `All ${samplesPerTask} draws of a question are alike at temperature 0: set --temperature.`,
    );
  }
  const begun = performance.now();
  const result = await run(resolved, flags, context);
  const seconds = (performance.now() - begun) / 1000;
  const { n, errors, metrics } = result;
  const { out } = flags;
  if (flags.json === true) {
    context.out(JSON.stringify({ ...result, ...(out === undefined ? {} : { out }) }));
  } else {
    context.out(evaluationText(result));
  }
  if (errors.n > 0) {
    const codes = Object.entries(errors.byCode).map(([code, count]) => `${code} ${count}`);
    context.note(`${errors.n} rollouts failed and are not measured (${codes.join(", ")}).`);
  }
  context.note(`${n} questions in ${seconds.toFixed(1)} s`);
  if (out !== undefined) context.note(`written to ${join(out, "results.json")}`);
  requireScores(requirements, metrics);
}

/** The recipe's settings with the flags laid over them. */
async function evalSettings(flags: EvalFlags): Promise<ResolvedSettings<Settings>> {
  const given = { ...flags, recipe: flags.recipe ?? DEFAULT_RECIPE };
  const values: [key: string, value: unknown, flag: string][] = [
    ["policy.from", flags.policy, "--policy"],
    ["evaluation.strategy", flags.strategy, "--strategy"],
    ["evaluation.sampling.temperature", flags.temperature, "--temperature"],
    ["evaluation.samplesPerTask", flags.samples, "--samples"],
  ];
  const overrides = values.flatMap(([key, value, origin]): Override[] =>
    value === undefined ? [] : [{ key, value, origin }],
  );
  const resolved = await settingsOf(given, overrides);
  if (flags.dataset === undefined) return resolved;
  const { evaluationDataset } = await import("../../recipe/run-eval.ts");
  const value = evaluationDataset(flags.dataset, resolved.settings);
  return settingsOf(given, [
    ...overrides,
    { key: "evaluation.dataset", value, origin: "--dataset" },
  ]);
}

async function run(
  resolved: ResolvedSettings<Settings>,
  { index, limit, out, resume }: EvalFlags,
  context: CliContext,
): Promise<EvalResult> {
  // The runtime is slow to load: not for --help.
  const { runEval } = await import("../../recipe/run-eval.ts");
  let progress: Progress | null = null;
  const download = watchDownload(context);
  try {
    return await runEval(resolved, {
      ...(index === undefined ? {} : { index }),
      ...(limit === undefined ? {} : { limit }),
      ...(out === undefined ? {} : { out }),
      resume: resume === true,
      signal: context.signal,
      download: download.options,
      onStart: ({ draws, kept }) => {
        if (kept > 0) context.note(`${kept} rows are taken over from ${out ?? ""}.`);
        const unit = resolved.settings.evaluation.samplesPerTask > 1 ? "draws" : "questions";
        progress = startProgress(context, { label: "evaluating", total: draws, unit });
      },
      onProgress: ({ done, em }) => {
        progress?.update(done, `EM ${em.toFixed(3)}`);
      },
    });
  } finally {
    download.stop();
    (progress as Progress | null)?.stop();
  }
}

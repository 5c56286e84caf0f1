import type { Command } from "commander";
import { ConfigError } from "../../base/errors.ts";
import { readAnswersToJudge } from "../../evaluate/judge/answers-to-judge.ts";
import { type AttackedQuestion, attackReport, attacks } from "../../evaluate/judge/attacks.ts";
import { casesFor, checkUnparsed } from "../../evaluate/judge/calibrate.ts";
import { share } from "../../evaluate/statistics.ts";
import type { CliContext } from "../command.ts";
import { jsonOption, wholeNumber } from "../options.ts";
import { parseRequirement, requireScores } from "../require-scores.ts";
import { addJudgeOptions, boundsOf, calibratedJudge, type JudgeFlags } from "./judge-flags.ts";
import { attackBlocks, trafficText } from "../../view/documents/judge.ts";

interface CheckFlags extends JudgeFlags {
  questions?: string;
  questionField?: string;
  referencesField?: string;
  limit?: number;
  require?: string[];
  json?: true;
}

/** Cache folder of the commands without an --out. */
export const JUDGE_CACHE = "runs/judge-cache";

const METRICS = ["false_positive_rate", "false_positive_rate_after_rule", ...attacks.names];

/** Adds `agentrl judge check`. */
export function addJudgeCheck(family: Command, context: CliContext): void {
  const command = family
    .command("check")
    .summary("attack a judge with answers that are none")
    .description(
      `Attack a judge: ${attacks.parts.length} kinds of answers that are wrong or none (${attacks.names.slice(0, 5).join(", ")}, …), and how many of ` +
        "each it takes for right.",
    );
  addJudgeOptions(command, { required: true, cache: JUDGE_CACHE })
    .option("--questions <file>", "file of questions with references (default: built-in questions)")
    .option("--question-field <field>", "field of the question (default: question)")
    .option("--references-field <field>", "field of the accepted answers (default: references)")
    .option("--limit <n>", "use only the first n questions (default: all)", wholeNumber(2))
    .option(
      "--require <condition>",
      'fail with status 5 unless it holds, e.g. "false_positive_rate<=0.05"; repeatable',
      (text: string, before: string[] | undefined) => [...(before ?? []), text],
    )
    .addOption(jsonOption())
    .action((flags: CheckFlags) => check(flags, context));
}

async function check(flags: CheckFlags, context: CliContext): Promise<void> {
  const requirements = (flags.require ?? []).map((text) => parseRequirement(text, METRICS));
  const given = flags.questions === undefined ? null : await questionsOf(flags, flags.questions);
  const { judge, calibration } = await calibratedJudge(flags, JUDGE_CACHE, context);
  const all = given ?? distinct(casesFor(judge));
  const questions = flags.limit === undefined ? all : all.slice(0, flags.limit);
  const { seed = 0 } = flags;
  const results = await attackReport(judge, questions, { seed, signal: context.signal });
  const total = (key: "falsePositives" | "guarded"): ReturnType<typeof share> =>
    share(
      results.reduce((sum, each) => sum + each[key].count, 0),
      results.reduce((sum, each) => sum + each[key].n, 0),
    );
  const metrics = {
    false_positive_rate: total("falsePositives").rate,
    false_positive_rate_after_rule: total("guarded").rate,
    ...Object.fromEntries(
      results.map(({ attack, falsePositives }) => [attack, falsePositives.rate]),
    ),
  };
  const n = questions.length * results.length;
  const unparsed = results.reduce((sum, each) => sum + each.unparsed, 0);
  if (flags.json === true) {
    const { identity, traffic } = judge;
    context.out(
      JSON.stringify({
        n,
        questions: questions.length,
        unparsed,
        metrics,
        attacks: results,
        calibration,
        judge: identity,
        traffic,
      }),
    );
  } else {
    context.out(attackBlocks(results));
  }
  context.note(trafficText(judge.traffic));
  checkUnparsed(unparsed, n, boundsOf(flags).maxUnparsed);
  requireScores(requirements, metrics);
}

async function questionsOf(
  { questionField = "question", referencesField }: CheckFlags,
  path: string,
): Promise<AttackedQuestion[]> {
  // The question is read as the answer, because such a file has no answers.
  const { answers } = await readAnswersToJudge({
    predictions: path,
    predictionField: questionField,
    questionField,
    referencesField,
  });
  const questions = distinct(answers);
  if (questions.length > 1) return questions;
  throw new ConfigError(
    "USAGE",
    `--questions ${path}: holds ${questions.length} question; at least 2 are needed, since wrong answers come from the others.`,
  );
}

function distinct(questions: readonly AttackedQuestion[]): AttackedQuestion[] {
  const byText = new Map(
    questions.map(({ question, references }) => [question, { question, references }]),
  );
  return [...byText.values()];
}

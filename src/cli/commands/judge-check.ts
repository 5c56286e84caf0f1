import { type Command, Option } from "commander";
import { ConfigError } from "../../base/errors.ts";
import { readAnswersToJudge } from "../../evaluate/judge/answers-to-judge.ts";
import { type AttackedQuestion, attackReport, attacks } from "../../evaluate/judge/attacks.ts";
import { humanVerdictLayouts } from "../../evaluate/judge/human-verdicts.ts";
import { casesFor, checkUnparsed } from "../../evaluate/judge/judge.ts";
import { share } from "../../evaluate/statistics.ts";
import { attackBlocks, trafficText } from "../../view/documents/judge.ts";
import type { CliContext } from "../command.ts";
import { jsonOption, wholeNumber } from "../options.ts";
import { parseRequirement, requireScores } from "../require-scores.ts";
import { refuseStray } from "../stray-flags.ts";
import { type AgreeFlags, agree } from "./judge-agree.ts";
import {
  JUDGE_CACHE,
  type JudgeFlags,
  addJudgeOptions,
  boundsOf,
  calibratedJudge,
} from "./judge-flags.ts";

interface CheckFlags extends JudgeFlags {
  questions?: string;
  questionField?: string;
  referencesField?: string;
  limit?: number;
  require?: string[];
  json?: true;
}

const METRICS = ["false_positive_rate", "false_positive_rate_after_rule", ...attacks.names];

/** Adds `agentrl judge check`. */
export function addJudgeCheck(family: Command, context: CliContext): void {
  const command = family
    .command("check")
    .summary("attack a judge with answers that are none, or compare it with humans")
    .description(
      `Attack a judge: ${attacks.parts.length} kinds of answers that are wrong or none (${attacks.names.slice(0, 5).join(", ")}, …), and how many of ` +
        "each it takes for right. With a file that humans have judged: compare verdicts with theirs, of the string metrics, and of a judge " +
        "where --endpoint names one: accuracy, Cohen's kappa, wrong answers accepted, right answers rejected; over all and per system.",
    )
    .argument("[file]", "answers that humans have judged");
  addJudgeOptions(command, { required: false, cache: JUDGE_CACHE })
    .option("--questions <file>", "file of questions with references (default: built-in questions)")
    .option("--question-field <field>", "field of the question (default: question)")
    .option("--references-field <field>", "field of the accepted answers (default: references)")
    .option(
      "--require <condition>",
      'fail with status 5 unless it holds, e.g. "false_positive_rate<=0.05"; repeatable',
      (text: string, before: string[] | undefined) => [...(before ?? []), text],
    );
  addAgreeOptions(command).action((file: string | undefined, flags: CheckFlags & AgreeFlags) =>
    file === undefined ? checkAttacked(flags, context) : checkAgreement(file, flags, context),
  );
}

/** Adds `agentrl judge agree`, the earlier name of `judge check FILE`. */
export function addJudgeAgree(family: Command, context: CliContext): void {
  const command = family
    .command("agree", { hidden: true })
    .description("The same as `judge check FILE`.")
    .argument("<file>", "answers that humans have judged");
  addAgreeOptions(addJudgeOptions(command, { required: false, cache: JUDGE_CACHE })).action(
    (file: string, flags: AgreeFlags) => agree(file, flags, context),
  );
}

function addAgreeOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--dataset <layout>",
        `layout of the file: ${humanVerdictLayouts.parts.map(({ name, summary }) => `${name}: ${summary}`).join(" ")}`,
      ).choices(humanVerdictLayouts.names),
    )
    .option("--limit <n>", "use only the first n questions (default: all)", wholeNumber(1))
    .addOption(jsonOption());
}

async function checkAgreement(
  file: string,
  flags: CheckFlags & AgreeFlags,
  context: CliContext,
): Promise<void> {
  const ofAttacks = ["questions", "questionField", "referencesField", "require"];
  refuseStray(flags, ofAttacks, "attacks, which are without a file of verdicts");
  await agree(file, flags, context);
}

async function checkAttacked(
  { dataset, ...flags }: CheckFlags & AgreeFlags,
  context: CliContext,
): Promise<void> {
  refuseStray({ dataset }, ["dataset"], "a file that humans have judged");
  const { endpoint, model, limit } = flags as Partial<JudgeFlags> & { limit?: number };
  if (endpoint === undefined || model === undefined || limit === 1) {
    throw new ConfigError(
      "USAGE",
      limit === 1
        ? "--limit is 1: at least 2 questions are needed, since wrong answers come from the others."
        : "judge check needs --endpoint and --model of a judge to attack, or a file that humans have judged.",
    );
  }
  await check({ ...flags, endpoint, model }, context);
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

import { readAnswersToJudge } from "../../evaluate/judge/answers-to-judge.ts";
import { attackReport } from "../../evaluate/judge/attacks.ts";
import { casesFor, checkUnparsed } from "../../evaluate/judge/judge.ts";
import { share } from "../../evaluate/statistics.ts";
import { type AttackedQuestion, attacks } from "../../rewards/judge/attacks.ts";
import { attackBlocks, trafficText } from "../../view/documents/judge.ts";
import { type CliContext, defineCommand } from "../command.ts";
import { type Flags, options, refuseStray, requireFlag } from "../options.ts";
import { parseRequirement, requireScores } from "../require-scores.ts";
import { usage } from "../usage.ts";
import { agree, AGREE_OPTIONS } from "./judge-agree.ts";
import { boundsOf, calibratedJudge, JUDGE_CACHE, type JudgeFlags } from "./judge-flags.ts";

const METRICS = ["false_positive_rate", "false_positive_rate_after_rule", ...attacks.names];

const OPTIONS = options({
  ...AGREE_OPTIONS,
  questions: ["<file>", "file of questions with references (default: built-in questions)"],
  questionField: ["<field>", "field of the question (default: question)"],
  referencesField: ["<field>", "field of the accepted answers (default: references)"],
  require: requireFlag("false_positive_rate<=0.05"),
});

type CheckFlags = Flags<typeof OPTIONS>;

/** Adds `agentrl judge check`. */
export const judgeCheckCommand = defineCommand({
  name: "check",
  summary: "attack a judge with answers that are none, or compare it with humans",
  description:
    `Attack a judge: ${attacks.parts.length} kinds of answers that are wrong or none (${attacks.names.slice(0, 5).join(", ")}, …), and how many of ` +
    "each it takes for right. With a file that humans have judged: compare verdicts with theirs, of the string metrics, and of a judge " +
    "where --endpoint names one: accuracy, Cohen's kappa, wrong answers accepted, right answers rejected; over all and per system.",
  args: [["[file]", "answers that humans have judged"]],
  options: OPTIONS,
  run: (flags, context, file) =>
    file === undefined ? checkAttacked(flags, context) : checkAgreement(file, flags, context),
});

/** `agentrl judge agree`, the earlier name of `judge check FILE`. */
export const judgeAgreeCommand = defineCommand({
  name: "agree",
  hidden: true,
  description: "The same as `judge check FILE`.",
  args: [["<file>", "answers that humans have judged"]],
  options: AGREE_OPTIONS,
  run: (flags, context, file) => agree(file, flags, context),
});

async function checkAgreement(file: string, flags: CheckFlags, context: CliContext): Promise<void> {
  const ofAttacks = ["questions", "questionField", "referencesField", "require"];
  refuseStray(flags, ofAttacks, "attacks, which are without a file of verdicts");
  await agree(file, flags, context);
}

async function checkAttacked(
  { dataset, ...flags }: CheckFlags,
  context: CliContext,
): Promise<void> {
  refuseStray({ dataset }, ["dataset"], "a file that humans have judged");
  const { endpoint, model, limit } = flags;
  if (endpoint === undefined || model === undefined || limit === 1)
    throw usage(
      limit === 1
        ? "--limit is 1: at least 2 questions are needed, since wrong answers come from the others."
        : "judge check needs --endpoint and --model of a judge to attack, or a file that humans have judged.",
    );
  await check({ ...flags, endpoint, model }, context);
}

async function check(flags: CheckFlags & JudgeFlags, context: CliContext): Promise<void> {
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
  throw usage(
    `--questions ${path}: holds ${questions.length} question; at least 2 are needed, since wrong answers come from the others.`,
  );
}

function distinct(questions: readonly AttackedQuestion[]): AttackedQuestion[] {
  const byText = new Map(
    questions.map(({ question, references }) => [question, { question, references }]),
  );
  return [...byText.values()];
}

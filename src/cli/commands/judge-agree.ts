import { plural } from "../../base/format.ts";
import {
  humanAgreement,
  type HumanAgreement,
  type HumanVerdict,
  humanVerdictLayouts,
  ruleVerdicts,
} from "../../evaluate/judge/human-verdicts.ts";
import { checkEvaluated, judgeAnswers } from "../../evaluate/judge/judge-answers.ts";
import { humanAgreementBlocks, trafficText } from "../../view/documents/judge.ts";
import type { CliContext } from "../command.ts";
import { DEFAULT_CONCURRENCY, ENDPOINT_FLAGS } from "../endpoint-flags.ts";
import { withProgress } from "../model-download.ts";
import { type Flags, jsonFlag, options, refuseStray, wholeNumber } from "../options.ts";
import { usage } from "../usage.ts";
import {
  boundsOf,
  calibratedJudge,
  JUDGE_CACHE,
  type JudgeFlags,
  judgeOptions,
} from "./judge-flags.ts";

export const AGREE_OPTIONS = options({
  ...judgeOptions(JUDGE_CACHE),
  dataset: [
    "<layout>",
    `layout of the file: ${humanVerdictLayouts.parts.map(({ name, summary }) => `${name}: ${summary}`).join(" ")}`,
    humanVerdictLayouts.names,
  ],
  limit: ["<n>", "use only the first n questions (default: all)", wholeNumber(1)],
  json: jsonFlag(),
});

type AgreeFlags = Flags<typeof AGREE_OPTIONS>;

const DEFAULT_LAYOUT = "evouna";

/** Compares verdicts with those of humans: of the string metrics, and of a judge where the flags name one. */
export async function agree(file: string, flags: AgreeFlags, context: CliContext): Promise<void> {
  const judgeFlags = judgeFlagsOf(flags);
  const layout = humanVerdictLayouts.get(flags.dataset ?? DEFAULT_LAYOUT, "--dataset");
  const { verdicts, improper, skipped } = await layout.read(file);
  const humans = firstQuestions(verdicts, flags.limit);
  if (improper > 0) context.note(`${improper} questions are marked as improper: left out.`);
  if (skipped.length > 0) context.note(skippedText(skipped));
  const { seed = 0 } = flags;
  const results: Record<string, HumanAgreement> = {};
  for (const rule of ruleVerdicts.parts)
    results[rule.name] = humanAgreement(
      humans,
      humans.map((human) => rule.accepts(human)),
      { seed },
    );
  const questions = new Set(humans.map(({ question }) => question)).size;
  const about = {
    dataset: layout.name,
    questions,
    n: humans.length,
    improper,
    skipped: skipped.length,
  };
  if (judgeFlags === null) {
    print({ ...about, agreement: results }, flags, context);
    return;
  }
  const { judge, calibration } = await calibratedJudge(judgeFlags, JUDGE_CACHE, context);
  const answers = humans.map((human, i) => ({ id: String(i + 1), sample: 0, ...human }));
  const bar = { label: "judging", total: humans.length, unit: "answers" };
  const rows = await withProgress(context, bar, (update) =>
    judgeAnswers(judge, answers, {
      repeats: 1,
      concurrency: flags.concurrency ?? DEFAULT_CONCURRENCY,
      signal: context.signal,
      onRow: (_, done) => {
        update(done);
      },
    }),
  );
  results["judge"] = humanAgreement(
    humans,
    rows.map(({ correct }) => correct),
    { seed },
  );
  const { identity, traffic } = judge;
  print({ ...about, agreement: results, calibration, judge: identity, traffic }, flags, context);
  context.note(trafficText(traffic));
  checkEvaluated(rows, boundsOf(judgeFlags).maxUnparsed);
}

const SKIPPED_SHOWN = 5;

function skippedText(skipped: readonly string[]): string {
  const more = skipped.length > SKIPPED_SHOWN ? "; …" : "";
  const places = skipped.slice(0, SKIPPED_SHOWN).join("; ");
  return `${plural(skipped.length, "answer")} left out, without text or without a verdict: ${places}${more}.`;
}

function print(
  result: { agreement: Record<string, HumanAgreement>; [key: string]: unknown },
  { json }: AgreeFlags,
  context: CliContext,
): void {
  context.out(json === true ? JSON.stringify(result) : humanAgreementBlocks(result.agreement));
  if (json !== true) context.note("95 % intervals; those of kappa are a bootstrap over questions.");
}

/** Flags without effect on the string metrics; --seed also sets their intervals. */
const OF_JUDGES: readonly string[] = [
  ...ENDPOINT_FLAGS,
  ...["prompt", "verdictFormat", "temperature", "tokenLimit"],
  ...["minCalibration", "maxUnparsed"],
];

/** null: no judge. @throws {ConfigError} USAGE with only one of --endpoint and --model. */
function judgeFlagsOf(flags: AgreeFlags): JudgeFlags | null {
  const { endpoint, model } = flags;
  if (endpoint === undefined && model === undefined) {
    refuseStray(flags, OF_JUDGES, "a judge, and no --endpoint names one");
    return null;
  }
  if (endpoint !== undefined && model !== undefined) return { ...flags, endpoint, model };
  throw usage(
    `${endpoint === undefined ? "--model" : "--endpoint"} is given alone: a judge needs --endpoint and --model; without both, only the string metrics are compared.`,
  );
}

function firstQuestions(humans: readonly HumanVerdict[], limit?: number): readonly HumanVerdict[] {
  if (limit === undefined) return humans;
  const taken = new Set<string>();
  return humans.filter(({ question }) => {
    if (taken.size < limit) taken.add(question);
    return taken.has(question);
  });
}

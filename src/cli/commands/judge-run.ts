import { statSync } from "node:fs";
import { join } from "node:path";
import { formatScore } from "../../base/format.ts";
import { shortHash } from "../../evaluate/fingerprint.ts";
import { readAnswersToJudge } from "../../evaluate/judge/answers-to-judge.ts";
import { checkEvaluated, judgeAnswers } from "../../evaluate/judge/judge-answers.ts";
import { judgeSummary } from "../../evaluate/judge/judge-summary.ts";
import type { AnswerToJudge, JudgedRow } from "../../evaluate/judge/judged-row.ts";
import {
  checkVerdictFolder,
  openVerdictLog,
  RESULTS_FILE,
} from "../../evaluate/judge/verdict-log.ts";
import { judgeRunBlocks, trafficText } from "../../view/documents/judge.ts";
import { claimWriting } from "../claim-output.ts";
import { type CliContext, defineCommand } from "../command.ts";
import { DEFAULT_CONCURRENCY } from "../endpoint-flags.ts";
import { withProgress } from "../model-download.ts";
import { jsonFlag, options, outFlag, refuseStray, requireFlag, wholeNumber } from "../options.ts";
import { parseRequirement, requireScores } from "../require-scores.ts";
import { usage } from "../usage.ts";
import { boundsOf, calibratedJudge, judgeOptions } from "./judge-flags.ts";

/** Flags that name fields of a file. */
const FIELDS = ["questionField", "predictionField", "referencesField", "references", "idField"];

const METRICS = ["judge_accuracy", "em", "f1", "cover_em"];

const OPTIONS = options({
  predictions: ["<path>", "file of answers, or folder of an evaluation"],
  questionField: ["<field>", "field of the question (default: question)"],
  predictionField: ["<field>", "field of the answer (default: prediction)"],
  referencesField: ["<field>", "field of the accepted answers (default: references)"],
  references: ["<file>", "file with questions and references, if the predictions file has none"],
  idField: ["<field>", "field that joins the two files (default: id)"],
  ...judgeOptions("OUT/cache"),
  limit: ["<n>", "judge only the first n answers (default: all)", wholeNumber(1)],
  repeats: [
    "<n>",
    "ask n times and take the majority, n odd (default: 1); reports how often verdicts change",
    wholeNumber(1, 99),
  ],
  out: outFlag("folder for the verdicts (default: PREDICTIONS.judge)"),
  resume: ["", "resume: keep the verdicts in --out and judge the rest"],
  require: requireFlag("judge_accuracy>=0.5"),
  json: jsonFlag(),
});

/** Adds `agentrl judge run`. */
export const judgeRunCommand = defineCommand({
  name: "run",
  summary: "judge a file of answers, or the answers of an evaluation",
  description:
    "Judge answers: of a folder that `agentrl eval --out` wrote, or of a file of anybody's (JSON lines, a JSON array). " +
    "Each verdict is appended to verdicts.jsonl in --out; em, f1 and cover_em stand beside. An answer that says nothing is " +
    "wrong without asking; one whose verdict cannot be read is not evaluated.",
  options: OPTIONS,
  required: ["predictions", "endpoint", "model"],
  async run(flags, context) {
    const { repeats = 1, seed = 0 } = flags;
    if (repeats % 2 === 0)
      throw usage(
        `--repeats is ${repeats}: it must be odd, or verdicts could be a draw. See \`agentrl judge run --help\`.`,
      );
    const requirements = (flags.require ?? []).map((text) => parseRequirement(text, METRICS));
    const out = flags.out ?? `${flags.predictions.replace(/(\.jsonl?(\.gz)?|\/+)$/, "")}.judge`;
    claimWriting(out);
    checkVerdictFolder(out, flags.resume === true);
    if (statSync(flags.predictions, { throwIfNoEntry: false })?.isDirectory() === true)
      refuseStray(flags, FIELDS, "a file of answers; an evaluation's rows have names of their own");
    const { answers: all, failedRollouts } = await readAnswersToJudge(flags);
    const answers = flags.limit === undefined ? all : all.slice(0, flags.limit);
    if (failedRollouts > 0)
      context.note(
        `${failedRollouts} rollouts of the evaluation failed: they have no answer to judge.`,
      );
    const { judge, calibration } = await calibratedJudge(flags, join(out, "cache"), context);
    // Two servers may use one name for different models.
    const identity = shortHash({ judge: judge.identity, server: flags.endpoint, repeats });
    const log = await openVerdictLog(out, { identity, resume: flags.resume === true });
    if (log.kept > 0) context.note(`${log.kept} verdicts are taken over from ${out}.`);
    try {
      const concurrency = flags.concurrency ?? DEFAULT_CONCURRENCY;
      const rows = await judged(answers, context, (onRow) =>
        judgeAnswers(judge, answers, { repeats, concurrency, log, signal: context.signal, onRow }),
      );
      const summary = judgeSummary(rows, { judge: judge.identity, repeats, calibration, seed });
      await log.finish(rows, summary);
      if (flags.json === true) {
        context.out(JSON.stringify({ ...summary, failedRollouts, traffic: judge.traffic, out }));
      } else {
        context.out(judgeRunBlocks(summary));
      }
      context.note(trafficText(judge.traffic));
      context.note(`written to ${join(out, RESULTS_FILE)}`);
      checkEvaluated(rows, boundsOf(flags).maxUnparsed);
      requireScores(requirements, summary.metrics);
    } finally {
      await log.close();
    }
  },
});

function judged(
  answers: readonly AnswerToJudge[],
  context: CliContext,
  judge: (onRow: (row: JudgedRow, done: number) => void) => Promise<JudgedRow[]>,
): Promise<JudgedRow[]> {
  let [right, known] = [0, 0];
  const bar = { label: "judging", total: answers.length, unit: "answers" };
  return withProgress(context, bar, (update) =>
    judge(({ correct }, done) => {
      if (correct !== null) known += 1;
      if (correct === true) right += 1;
      update(done, known === 0 ? "" : `correct ${formatScore(right / known)}`);
    }),
  );
}

import { ScoreError } from "../base/errors.ts";
import { z } from "../base/schema.ts";
import { roleName } from "../trajectory/role.ts";
import { CALIBRATION_CASES } from "./judge/calibration-cases.ts";
import {
  type JudgeCase,
  judgeMessages,
  type JudgePrompt,
  readVerdict,
  reaskMessages,
  saysNothing,
} from "./judge/judge-prompt.ts";
import { judgePromptName, judgePrompts } from "./judge/judge-prompts.ts";
import { defineReward } from "./reward.ts";

const options = z.strictObject({
  /** The model that is asked. */
  role: roleName(),
  prompt: judgePromptName.default("equivalence-strict"),
  /** Most tokens of a reply; a reasoning judge needs thousands. */
  maxTokens: z.int().min(1).default(512),
  /** Share of known right answers that it must accept, and of known wrong ones that it must reject. 0 asks about none. */
  minCalibration: z.number().min(0).max(1).default(0.9),
});

/** The verdict on a case as the prompt spells it; null where two replies could not be read. */
type Ask = (asked: JudgeCase) => Promise<string | null>;

/**
 * A model's verdict on the answer: 1 or 0, or of the prompt `graded` the grade from 0 to 1. Before its first verdict the judge is asked about
 * answers that are known to be right or wrong; one that fails ends the run. Equal cases are asked once. Tasks without references, and
 * unreadable verdicts, are not scored. An empty answer is 0 without asking.
 *
 * Source: DeepDiver, arXiv 2505.24332, for grades; the prompts and cases are those of `agentrl judge`.
 */
export const judge = defineReward({
  name: "judge",
  summary: "A model's verdict on the answer; the model is tested on known answers first.",
  range: [0, 1],
  source: "DeepDiver, arXiv 2505.24332; the prompts of `agentrl judge`",
  options,
  async score({ trajectory, task }, { role, maxTokens, minCalibration, ...settings }, context) {
    const { question, references } = task;
    const prediction = trajectory.answer ?? "";
    if (references.length === 0) return null;
    if (saysNothing({ prediction, references })) return 0;
    const { cache, signal } = context;
    const prompt = judgePrompts.get(settings.prompt, "rewards (judge).prompt");
    const model = context.roles.get(role, "rewards (judge).role");
    const complete = (messages: ReturnType<typeof judgeMessages>): Promise<string> =>
      model.complete(messages.map(({ content }) => content).join("\n\n"), { maxTokens, signal });
    const ask: Ask = (asked) =>
      cache.get(asked, async () => {
        const messages = judgeMessages(prompt, asked);
        const reply = await complete(messages);
        const { verdict } = readVerdict(prompt, reply, null);
        if (verdict !== null) return verdict;
        return readVerdict(prompt, await complete(reaskMessages(messages, reply)), null).verdict;
      });
    if (minCalibration > 0)
      await cache.get("calibration", () =>
        requireCalibrated(role, { prompt, ask, minCalibration }),
      );
    const verdict = await ask({ question, references, prediction });
    return verdict === null ? null : valueOf(prompt, verdict);
  },
});

/** A grade's place between the lowest and the highest; of other verdicts 1 for those that accept. */
function valueOf({ verdicts, accepted }: JudgePrompt, verdict: string): number {
  const grades = verdicts.map(Number);
  if (!grades.every(Number.isFinite)) return accepted.includes(verdict) ? 1 : 0;
  const [low, high] = [Math.min(...grades), Math.max(...grades)];
  return (Number(verdict) - low) / (high - low);
}

/** @throws {ScoreError} JUDGE_UNCALIBRATED. Unreadable verdicts are wrong ones. */
async function requireCalibrated(
  role: string,
  given: { prompt: JudgePrompt; ask: Ask; minCalibration: number },
): Promise<void> {
  const { prompt, ask, minCalibration } = given;
  const cases = CALIBRATION_CASES.filter(({ kind }) => !prompt.leavesOut.includes(kind));
  const judged = await Promise.all(
    cases.map(async ({ question, references, prediction, correct }) => {
      const verdict = await ask({ question, references, prediction });
      return { correct, agrees: verdict !== null && prompt.accepted.includes(verdict) === correct };
    }),
  );
  const [right, wrong] = [true, false].map((correct) => {
    const own = judged.filter((each) => each.correct === correct);
    return { n: own.length, count: own.filter(({ agrees }) => agrees).length };
  }) as [Count, Count];
  if (Math.min(right.count / right.n, wrong.count / wrong.n) >= minCalibration) return;
  throw new ScoreError(
    "JUDGE_UNCALIBRATED",
    `rewards (judge): models.${role} accepts ${right.count} of ${right.n} answers known to be right and rejects ${wrong.count} of ${wrong.n} known to be wrong; both shares must reach minCalibration ${minCalibration}. Take another model or prompt (\`agentrl judge check\` shows what misleads it), or lower minCalibration (0 accepts every judge) and report that beside the result.`,
  );
}

interface Count {
  n: number;
  count: number;
}

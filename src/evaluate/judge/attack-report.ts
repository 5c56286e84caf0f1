import { allOrAbort } from "../../http/concurrency.ts";
import { attackCases, type AttackedQuestion } from "./attacks.ts";
import { saysNothing } from "./by-rule.ts";
import { isHttpFailure, type Judge, unreachable } from "./judge.ts";
import { type Share, share } from "./share.ts";

/** How a judge stands up to one kind of attack. */
export interface AttackResult {
  attack: string;
  /** Attacks that it took for right answers, of those on which its verdict could be read. */
  falsePositives: Share;
  /** The same with the rule of `judge run` in front: what says nothing is wrong without asking. */
  guarded: Share;
  unparsed: number;
  /** One that got through, if any. */
  example: { question: string; prediction: string; reason: string } | null;
}

/**
 * Attacks a judge: every attack on every question, the model itself asked each time.
 * @throws {ScoreError} JUDGE_UNREACHABLE when a request fails.
 */
export async function attackReport(
  judge: Judge,
  questions: readonly AttackedQuestion[],
  { seed, signal }: { seed: number; signal?: AbortSignal | undefined },
): Promise<AttackResult[]> {
  const cases = attackCases(questions, { seed, leavesOut: judge.prompt.leavesOut });
  const asked = await allOrAbort(
    cases,
    async (each, stop) => ({ ...each, said: await judge.judge(each, { signal: stop }) }),
    signal,
  ).catch((error: unknown) => {
    throw isHttpFailure(error) ? unreachable("The judge failed under attack", error) : error;
  });
  return [...new Set(cases.map(({ attack }) => attack))].map((attack) => {
    const own = asked.filter((each) => each.attack === attack);
    const read = own.filter(({ said }) => said.correct !== null);
    const fooled = read.filter(({ said }) => said.correct === true);
    const through = fooled.filter((each) => !saysNothing(each));
    const [first] = fooled;
    return {
      attack,
      falsePositives: share(fooled.length, read.length),
      guarded: share(through.length, read.length),
      unparsed: own.length - read.length,
      example:
        first === undefined
          ? null
          : {
              question: first.question,
              prediction: first.prediction,
              reason: first.said.reason,
            },
    };
  });
}

import { random } from "../../base/random.ts";
import { allOrAbort } from "../../http/concurrency.ts";
import { answerScores } from "../metrics/answer-metrics.ts";
import { share, type Share } from "../statistics.ts";
import { type AttackedQuestion, attacks } from "../../rewards/judge/attacks.ts";
import { type JudgeCase, saysNothing } from "../../rewards/judge/judge-prompt.ts";
import { isHttpFailure, type Judge, unreachable } from "./judge.ts";

interface AttackCase extends JudgeCase {
  attack: string;
}

/** Every attack on every question, attack by attack. @param questions at least two with different answers, which serve as wrong ones. */
export function attackCases(
  questions: readonly AttackedQuestion[],
  { seed, leavesOut = [] }: { seed: number; leavesOut?: readonly string[] },
): AttackCase[] {
  const wrong = questions.map((_, i) => wrongAnswer(questions, i));
  return attacks.parts
    .filter(({ name }) => !leavesOut.includes(name))
    .flatMap((attack) =>
      questions.map(({ question, references }, i) => {
        const target = { question, references, wrong: wrong[i] ?? "" };
        const draw = random(seed).derive("attack", attack.name, i);
        return {
          attack: attack.name,
          question,
          references,
          prediction: attack.write(target, draw),
        };
      }),
    );
}

function wrongAnswer(questions: readonly AttackedQuestion[], at: number): string {
  const own = questions[at]?.references ?? [];
  for (let step = 1; step < questions.length; step++) {
    const other = questions[(at + step) % questions.length]?.references[0] ?? "";
    const shared = covers(other, own) || own.some((reference) => covers(reference, [other]));
    if (!shared) return other;
  }
  return "Zweibrücken"; // if all questions have one answer: a place that is surely another answer
}

function covers(prediction: string, references: readonly string[]): boolean {
  return answerScores({ prediction, references }).cover_em === 1;
}

/** Result of a judge against one kind of attack. */
export interface AttackResult {
  attack: string;
  /** Share of attacks that it accepted, of those with a readable verdict. */
  falsePositives: Share;
  /** The same with the rule of `judge run`, which rejects empty answers without asking. */
  guarded: Share;
  unparsed: number;
  example: { question: string; prediction: string; reason: string } | null;
}

/** Attacks a judge: every attack on every question. @throws {ScoreError} JUDGE_UNREACHABLE when a request fails. */
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
          : { question: first.question, prediction: first.prediction, reason: first.said.reason },
    };
  });
}

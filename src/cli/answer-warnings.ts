import { formatPercent, shorten } from "../base/format.ts";
import type { EvalOutcome } from "../run/run-eval.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import { cutWarnings } from "./cut-text.ts";

/** Characters of a reply in a warning. */
const REPLY_START = 160;

/** Warnings about answers that budgets cut, about answers inside of thoughts, and about an evaluation without any answer. */
export function answerWarnings(outcome: EvalOutcome, settings: Settings): string[] {
  return [
    ...cutWarnings(outcome.result, settings),
    ...inThoughtsWarning(outcome),
    ...noAnswerWarning(outcome),
  ];
}

function inThoughtsWarning({ answersInThoughts }: EvalOutcome): string[] {
  if (answersInThoughts === undefined) return [];
  const { messages, inside } = answersInThoughts;
  return [
    `The answer stands inside of a thought in ${formatPercent(inside / messages)} of the messages that answer (${inside} of ${messages}): this protocol takes a message's first tags, as published. environment.protocol=hermes ignores what thoughts quote.`,
  ];
}

function noAnswerWarning({ result, unanswered }: EvalOutcome): string[] {
  const { metrics, ends } = result;
  if (metrics.answer_rate !== 0) return [];
  const counts = Object.entries(ends).map(([end, count]) => `${end} ${count}`);
  const warning = `No question got an answer, so all scores are 0 (${counts.join(", ")}).`;
  if (unanswered === undefined) return [warning];
  const { reply, pattern } = unanswered;
  if (reply.trim() === "") return [`${warning} The first reply is empty.`];
  const cause = new RegExp(pattern, "s").test(reply)
    ? ""
    : ` Replies do not match ${pattern}, which reads the answer: choose another --strategy, or set environment.protocol.answer.pattern by --set.`;
  return [
    `${warning}${cause} The first reply begins: ${JSON.stringify(shorten(reply, REPLY_START))}`,
  ];
}

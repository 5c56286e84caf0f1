import { type Random, random } from "../../base/random.ts";
import { textAfter } from "../../env/protocols/protocol.ts";
import type { ScriptPlace, AnsweredQuestion, Asked } from "../../env/teacher.ts";
import type { SolutionStep, Task } from "../../trajectory/task.ts";
import { stepQueries } from "../../worlds/index.ts";
import type { Behaviour } from "./behaviour.ts";
import { briefPlan, namedInQuestion, untriedQueries, vagueQuery } from "./brief-plan.ts";

/** The gold reply to a strategy's own prompt, by the behaviours `search`, `continue`, `fullQuery` and `reword` of the agent's messages. */
export function askedReply(asked: Asked, place: ScriptPlace, behaviour: Behaviour): string {
  const { task, turns } = place;
  const steps = task.annotations.decomposition ?? [];
  const draw = random(place.seed).derive("asked", turns.length);
  switch (asked.for) {
    case "plan": {
      const last = steps.findIndex((_, i) => i > 0 && draw.next() >= behaviour.continue);
      return asked.write(withReferences(last < 0 ? steps : steps.slice(0, last)));
    }
    case "next-question":
      return line(nextQuestion(steps, asked.known, behaviour, draw));
    case "need":
      return asked.write(draw.next() < behaviour.search);
    case "query":
      return line(queryFor(asked.question, asked.failed, behaviour, draw));
    case "order":
      return line(orderOf(asked, steps).join(" "));
    case "sub-answer":
      return line(stepTold(asked, steps)?.answer ?? asked.unknown);
    case "verdict":
      return asked.write(isRight(asked.answered, task));
    case "step":
      return asked.write(briefPlan({ task, turns }, behaviour, place.seed));
    case "answer": {
      const action = { tool: "answer", input: answerFrom(asked.known, task) };
      return textAfter(place.prefill, { thought: "", action }, place);
    }
  }
}

function line(text: string): string {
  return text === "" ? "" : ` ${text}`;
}

/** Questions of steps, where an earlier answer is the number of its step: "mayor of #1". */
function withReferences(steps: readonly SolutionStep[]): string[] {
  return steps.map(({ question }, i) =>
    steps
      .slice(0, i)
      .reduce((text, { answer }, before) => text.replaceAll(answer, `#${before + 1}`), question),
  );
}

/** "" when nothing is missing, or when the teacher stops early. */
function nextQuestion(
  steps: readonly SolutionStep[],
  known: readonly AnsweredQuestion[],
  behaviour: Behaviour,
  draw: Random,
): string {
  const step = steps[knownSteps(steps, known)];
  if (step === undefined || (known.length > 0 && draw.next() >= behaviour.continue)) return "";
  const tried = known.map(({ question }) => question);
  const isTried = tried.includes(step.question);
  return queryFor(step.question, isTried ? tried : [], behaviour, draw);
}

/** The step's label; another word for it where the label found nothing; the relation alone where the teacher is vague. */
function queryFor(
  question: string,
  failed: readonly string[],
  { fullQuery, reword }: Behaviour,
  draw: Random,
): string {
  if (draw.next() >= fullQuery) return vagueQuery(question);
  if (failed.length === 0 && draw.next() >= reword) return question;
  const untried = untriedQueries(question, failed);
  return untried[draw.int(Math.max(1, untried.length))] ?? question;
}

function knownSteps(steps: readonly SolutionStep[], known: readonly AnsweredQuestion[]): number {
  const missing = steps.findIndex((step) => !known.some(({ answer }) => answer === step.answer));
  return missing < 0 ? steps.length : missing;
}

function stepTold(
  { question, passages }: Extract<Asked, { for: "sub-answer" | "order" }>,
  steps: readonly SolutionStep[],
): SolutionStep | undefined {
  return steps.find(
    (step) =>
      (step.question === question || stepQueries(step.question).includes(question)) &&
      passages.some(({ id }) => id === step.passage),
  );
}

function orderOf(
  asked: Extract<Asked, { for: "order" }>,
  steps: readonly SolutionStep[],
): number[] {
  const told = stepTold(asked, steps)?.passage;
  const best = asked.passages.findIndex(({ id }) => id === told);
  const numbers = asked.passages.map((_, i) => i);
  const ordered = best < 0 ? numbers : [best, ...numbers.filter((i) => i !== best)];
  return ordered.map((i) => i + 1);
}

function isRight({ question, answer }: AnsweredQuestion, task: Task): boolean {
  if (question === task.question) return task.references.includes(answer);
  const steps = task.annotations.decomposition ?? [];
  return steps.some((step) => step.question === question && step.answer === answer);
}

/** The reference if all steps are known, else the last answer found; a name in the question where there is none. */
function answerFrom(known: readonly AnsweredQuestion[], task: Task): string {
  const steps = task.annotations.decomposition ?? [];
  const count = knownSteps(steps, known);
  if (count === steps.length) return task.references[0] ?? "";
  return steps[count - 1]?.answer ?? namedInQuestion(task);
}

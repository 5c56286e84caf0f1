import { type Random, random } from "../../base/random.ts";
import { stepQueries } from "../../worlds/index.ts";
import type { PlannedMessage } from "../../env/protocols/protocol.ts";
import type { SolutionStep, Task } from "../../trajectory/task.ts";
import type { Turn } from "../../trajectory/trajectory.ts";
import { factsOf } from "./blocks.ts";
import type { Behaviour } from "./behaviour.ts";

const THOUGHTS = { search: "I must look it up", answer: "I can answer now", guess: "I know this" };

/** The teacher's fixed texts: a tokenizer must know their words. */
export const TEACHER_TEXTS: readonly string[] = Object.values(THOUGHTS).map((text) => ` ${text}`);

interface BriefPlace {
  task: Task;
  turns: readonly Turn[];
  /** What the teacher remembers as the answers of the steps; null or absent: the question is not of the world known by heart. */
  remembered?: readonly string[] | null;
}

/**
 * The next message of a search trajectory from a decomposition into whole questions: search for each step in turn, then answer. A guess is
 * the name in the question: wrong, but copied, so that a policy does not learn to invent names. @param seed of the trajectory.
 */
export function briefPlan(
  { task, turns: all, remembered = null }: BriefPlace,
  behaviour: Behaviour,
  seed: number,
): PlannedMessage {
  const draw = random(seed).derive(all.length);
  const habit = random(seed).derive("habit", all.length);
  // A message that was not understood taught nothing.
  const turns = all.filter(({ actions }) => actions.length > 0);
  const steps = task.annotations.decomposition ?? [];
  if (remembered !== null && turns.length === 0 && habit.next() < behaviour.recall)
    return recalled(steps, remembered, habit.next() < (behaviour.state ?? 0));
  const last = turns.at(-1)?.actions.at(-1)?.input;
  if (last !== undefined && habit.next() < behaviour.repeat) return search(last, true);
  const known = knownSteps(task, turns);
  const step = steps[known];
  const spare = steps[habit.int(Math.max(1, steps.length))];
  if (step === undefined && spare !== undefined && habit.next() < behaviour.overSearch)
    return search(spare.question, true);
  if (step === undefined) return answer(THOUGHTS.answer, task.references[0] ?? "");
  // A search after the first that added nothing was a miss.
  const missed = turns.length > 0 && known === knownSteps(task, turns.slice(0, -1));
  // No passage states this step, so a search for it that found nothing is the evidence for "unknown".
  if (missed && task.annotations.answerable === false && step.passage === null)
    return answer(THOUGHTS.answer, task.references[0] ?? "");
  const keen = missed ? behaviour.retry : known === 0 ? behaviour.search : behaviour.continue;
  if (draw.next() < keen) {
    const isFull = draw.next() < behaviour.fullQuery;
    if (draw.next() >= behaviour.reword) return search(step.question, isFull);
    return search(rewordedQuery(step.question, turns, draw), true);
  }
  const read = steps[known - 1]?.answer;
  if (read !== undefined) return answer(THOUGHTS.answer, read);
  return answer(THOUGHTS.guess, namedInQuestion(task));
}

/** The answer to a prompt with a prefill: the reference if the prompt shows it or no passage could, else the question's own name. */
export function briefForcedAnswer(task: Task, promptText: string): PlannedMessage {
  const [reference = ""] = task.references;
  // The question of a comparison names its answer as well: only passages count as showing it.
  const shown = promptText.slice(promptText.indexOf(task.question) + task.question.length);
  const isRight = shown.includes(reference) || task.annotations.answerable === false;
  return answer("", isRight ? reference : namedInQuestion(task));
}

/** An answer from passages in the prompt: the thought goes through the steps that they tell, and may stop early (`behaviour.continue`). */
export function briefReasoned(
  task: Task,
  promptText: string,
  behaviour: Behaviour,
  seed: number,
): { message: PlannedMessage; read: SolutionStep[] } {
  const draw = random(seed).derive("reasoned");
  const shown = promptText.slice(promptText.indexOf(task.question) + task.question.length);
  const steps = task.annotations.decomposition ?? [];
  const end = steps.findIndex(
    ({ answer: fact }, i) => !shown.includes(fact) || (i > 0 && draw.next() >= behaviour.continue),
  );
  const read = end < 0 ? steps : steps.slice(0, end);
  const last = read.at(-1);
  const message =
    last === undefined
      ? answer(THOUGHTS.guess, namedInQuestion(task))
      : answer(`${THOUGHTS.answer} ${factsOf(read)}`, last.answer);
  return { message, read: [...read] };
}

function recalled(
  steps: readonly { question: string }[],
  remembered: readonly string[],
  inSentences: boolean,
): PlannedMessage {
  const facts = steps.map(({ question }, i) => ({ question, answer: remembered[i] ?? "" }));
  const sentences = facts.map((fact) => `The ${fact.question} is ${fact.answer}.`);
  if (inSentences) return answer(sentences.join(" "), remembered.at(-1) ?? "");
  return answer(`${THOUGHTS.guess} ${factsOf(facts)}`, remembered.at(-1) ?? "");
}

/** The first entity of a question. */
export function namedInQuestion({ annotations: { decomposition = [] }, question }: Task): string {
  return / (?:of|is) (.*)$/.exec(decomposition[0]?.question ?? "")?.[1] ?? question;
}

/** Steps that the last turn's passages were the first to answer; null before the first search. */
export function stepsReadLast(task: Task, turns: readonly Turn[]): SolutionStep[] | null {
  if (turns.every(({ observations }) => observations.length === 0)) return null;
  const { decomposition = [] } = task.annotations;
  return decomposition.slice(knownSteps(task, turns.slice(0, -1)), knownSteps(task, turns));
}

/** Steps that a memory holds: a message that forgets keeps only those that were read last. @param forget share of messages that forget. */
export function stepsRemembered(
  { task, turns }: Pick<BriefPlace, "task" | "turns">,
  forget: number,
  seed: number,
): SolutionStep[] {
  const forgot = turns.findLastIndex((_, i) => random(seed).derive("forget", i).next() < forget);
  const first = forgot < 0 ? 0 : knownSteps(task, turns.slice(0, forgot));
  return (task.annotations.decomposition ?? []).slice(first, knownSteps(task, turns));
}

/** Steps whose passage a search has returned, counted from the first without a gap. */
function knownSteps(task: Task, turns: readonly Turn[]): number {
  const steps = task.annotations.decomposition ?? [];
  let known = 0;
  for (const { observations } of turns) {
    const step = steps[known];
    const seen = observations.flatMap(({ passageIds = [] }) => passageIds);
    if (step?.passage != null && seen.includes(step.passage)) known += 1;
  }
  return known;
}

/** A query for the step's fact by another word than those already tried; all were tried: any of them. */
function rewordedQuery(question: string, turns: readonly Turn[], draw: Random): string {
  const tried = turns.flatMap(({ actions }) => actions.map(({ input }) => input));
  const untried = untriedQueries(question, tried);
  const left = untried.length === 0 ? stepQueries(question) : untried;
  return left[draw.int(left.length)] ?? question;
}

/** Queries for the step's fact beside those already tried. */
export function untriedQueries(question: string, tried: readonly string[]): string[] {
  return stepQueries(question).filter((query) => !tried.includes(query));
}

/** A query that lacks its subject: "mayor" for "mayor of Alkmona". */
export function vagueQuery(question: string): string {
  return question.replace(/ of .*$/, "");
}

function search(question: string, full: boolean): PlannedMessage {
  const input = full ? question : vagueQuery(question);
  return { thought: THOUGHTS.search, action: { tool: "search", input } };
}

function answer(thought: string, input: string): PlannedMessage {
  return { thought, action: { tool: "answer", input } };
}

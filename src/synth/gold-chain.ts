import { random } from "../base/random.ts";
import { z } from "../base/schema.ts";
import type { CompletionRequest } from "../rollout/policy.ts";
import type { Task } from "../trajectory/task.ts";
import type { Turn } from "../trajectory/trajectory.ts";

/**
 * How a gold-chain teacher decides, as probabilities of the good choice. All 1 is an oracle; less makes a mixture of behaviours
 * whose best members succeed: what a policy needs before reinforcement can select.
 */
export const behaviourSchema = z.strictObject({
  /** To search at all, rather than to guess from the question. */
  search: z.number().min(0).max(1).default(1),
  /** To go on after a hop that is not the last, rather than to answer with what was just read. */
  continue: z.number().min(0).max(1).default(1),
  /** To name what is searched for, rather than the relation alone. */
  fullQuery: z.number().min(0).max(1).default(1),
});

export type Behaviour = z.output<typeof behaviourSchema>;

/** What the teacher thinks before it acts. */
const THOUGHTS = {
  search: " I must look it up",
  answer: " I can answer now",
  guess: " I know this",
};

/** Texts that a teacher may write beside names and questions: a tokenizer must know their words. */
export const TEACHER_TEXTS: readonly string[] = Object.values(THOUGHTS);

/**
 * Writes the messages of one search trajectory from the dataset's own decomposition, with no model: look up each step in turn,
 * then answer. Which steps are known is read from what the searches returned. A guess is the name that the question gives: wrong,
 * but copied, so that a policy which imitates it never learns to make names up.
 */
export function goldChainWriter(
  behaviour: Behaviour,
  seed: number,
): (request: CompletionRequest) => string {
  return ({ task, turns }) => {
    const draw = random(seed).derive(turns.length);
    const steps = task.annotations.decomposition ?? [];
    const known = knownSteps(task, turns);
    const step = steps[known];
    if (step === undefined) return answerMessage(THOUGHTS.answer, task.references[0] ?? "");
    const keen = known === 0 ? behaviour.search : behaviour.continue;
    if (draw.next() < keen) return searchMessage(step.question, draw.next() < behaviour.fullQuery);
    const read = steps[known - 1]?.answer;
    if (read !== undefined) return answerMessage(THOUGHTS.answer, read);
    return answerMessage(THOUGHTS.guess, namedInQuestion(task));
  };
}

/**
 * Completes a prompt that already opens the answer: the reference where the prompt shows it, else the question's own name.
 * @param promptText the prompt as text.
 */
export function forcedAnswer(task: Task, promptText: string): string {
  const [reference = ""] = task.references;
  // The question of a comparison names its answer as well: only passages count as showing it.
  const shown = promptText.slice(promptText.indexOf(task.question) + task.question.length);
  return ` ${shown.includes(reference) ? reference : namedInQuestion(task)}</answer>`;
}

/** The entity that a question starts from. */
function namedInQuestion({ annotations: { decomposition = [] }, question }: Task): string {
  return / of (.*)$/.exec(decomposition[0]?.question ?? "")?.[1] ?? question;
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

function searchMessage(question: string, full: boolean): string {
  const query = full ? question : question.replace(/ of .*$/, "");
  return `<think>${THOUGHTS.search}</think><search> ${query}</search>`;
}

function answerMessage(thought: string, answer: string): string {
  return `<think>${thought}</think><answer> ${answer}</answer>`;
}

import { random, type Random } from "../../base/random.ts";
import type { PlannedMessage } from "../../env/protocols/protocol.ts";
import { contentOf, firstNameIn } from "../../text/names.ts";
import { mentionsIn, wordsOf } from "../../text/words.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Turn } from "../../trajectory/trajectory.ts";
import { type Knowledge, queriesFor, type Query } from "./queries.ts";
import {
  type NeededPassage,
  neededPassages,
  readingOf,
  type SoughtStep,
  soughtSteps,
  stepAnswers,
} from "./sought-steps.ts";
import type { Behaviour } from "./behaviour.ts";
import { answerThought, hastyThought, searchThought, type ThoughtPlace } from "./thoughts.ts";

/** State of a trajectory before a message. */
export interface PlanPlace {
  task: Task;
  turns: readonly Turn[];
  shown: readonly string[];
  seed: number;
  mustAnswer: boolean;
}

/** How the planner decides. */
export type TellingSettings = { behaviour: Behaviour; searches: number };

/** Share of the trajectories that first search for the whole question, so that draws of one question differ. */
const QUESTION_FIRST = 0.25;

interface View extends Knowledge, ThoughtPlace {
  place: PlanPlace;
  steps: readonly SoughtStep[];
  needed: readonly NeededPassage[];
  isDone: (step: SoughtStep) => boolean;
  asked: ReadonlySet<string>;
}

/**
 * The next message of a search trajectory from gold: searches for what the answer still needs, and answers once that was read: all known
 * passages, and they contain the answer (unless it is yes, no or a name of the question); without known passages, a reply that contains the
 * answer. Without queries or searches left, it gives an answer that one of the passages contains. Null when it gives up.
 */
export function tellingPlan(place: PlanPlace, settings: TellingSettings): PlannedMessage | null {
  const view = viewOf(place);
  const draw = random(place.seed).derive("gold-chain", place.task.id, place.turns.length);
  if (isAnswerable(view)) return answer(view, draw);
  const { behaviour } = settings;
  const keen = view.hasFound ? behaviour.continue : behaviour.search;
  if (draw.next() >= keen) return hastyAnswer(view, draw);
  const left = place.mustAnswer ? 0 : settings.searches - queriesOf(place.turns).length;
  const query = left > 0 ? (firstQuery(view) ?? nextQuery(view)) : null;
  if (query === null) {
    if (isTold(view)) return answer(view, draw);
    return place.mustAnswer && view.asked.size === 0 ? hastyAnswer(view, draw) : null;
  }
  const isFull = draw.next() < behaviour.fullQuery;
  const thought = plain(searchThought(query, view, draw));
  const input = plain(isFull ? query.text : vague(query.text, place.task.question));
  return { thought, action: { tool: "search", input } };
}

/** Default limit of searches: twice the passages that the question needs, plus two. */
export function defaultSearches(task: Task): number {
  return 2 * Math.max(1, neededPassages(task).length) + 2;
}

function viewOf(place: PlanPlace): View {
  const { task, turns, shown } = place;
  const { question } = task;
  const [prompt = "", ...replies] = shown;
  const context = prompt.slice(Math.max(0, prompt.indexOf(question)) + question.length);
  const read = [context, ...replies].join("\n");
  const isRead = readingOf(turns, read);
  const wasRead = readingOf(turns.slice(0, -1), [context, ...replies.slice(0, -1)].join("\n"));
  const [inRead, inQuestion] = [mentionsIn(read), mentionsIn(question)];
  const steps = soughtSteps(task);
  const needed = neededPassages(task);
  const asked = new Set(queriesOf(turns));
  const isDone = ({ passage, wanted, answer: told }: SoughtStep): boolean => {
    if (passage !== null) return isRead(passage);
    return told === null ? asked.has(keyOf(wanted ?? "")) : inRead(told);
  };
  const found = needed.filter(isRead);
  return {
    place,
    steps,
    needed,
    isDone,
    asked,
    question,
    read,
    found,
    inQuestion,
    isKnown: (text) => inQuestion(text) || inRead(text),
    isRead,
    isTextRead: inRead,
    settled: steps.filter(
      ({ passage }) => passage !== null && isRead(passage) && !wasRead(passage),
    ),
    hasSearched: asked.size > 0,
    hasFound: found.length > 0,
  };
}

function isAnswerable(view: View): boolean {
  const { needed, found, place } = view;
  if (found.length < needed.length) return false;
  const isWritten =
    needed.length === 0 ||
    needed.some(({ text }) => text === "" || place.task.references.some(mentionsIn(text)));
  return !(isWritten && isOpen(view)) || place.task.references.some(view.isTextRead);
}

/** Whether the replies contain the answer, though not all needed passages were read. */
function isTold(view: View): boolean {
  const { found, place } = view;
  if (!isOpen(view)) return false;
  return found.some(({ text }) => {
    const stands = text === "" ? view.isTextRead : mentionsIn(text);
    return place.task.references.some((each) => stands(each) && view.isTextRead(each));
  });
}

/** Whether the answer must be found in a text: it is neither yes nor no, nor one of the question's own names. */
function isOpen({ place: { task }, inQuestion }: View): boolean {
  const isClosed = (text: string): boolean => /^(yes|no)$/i.test(text.trim());
  return !task.references.some((reference) => isClosed(reference) || inQuestion(reference));
}

function answer(view: View, draw: Random): PlannedMessage {
  const { references } = view.place.task;
  const [reference = ""] = references;
  const told = isOpen(view) && view.isTextRead(reference) ? reference : null;
  const thought = plain(answerThought(told, view, draw));
  return { thought, action: { tool: "answer", input: plain(reference) } };
}

/** The last found answer, else a name in the question: wrong, but copied. */
function hastyAnswer(view: View, draw: Random): PlannedMessage {
  const { steps, isDone, question, hasFound } = view;
  const last = steps.findLast(isDone);
  const told = last?.answer ?? last?.passage?.title ?? "";
  const input = told !== "" && view.isTextRead(told) ? told : firstNameIn(question);
  const thought = hastyThought(hasFound, draw);
  return { thought, action: { tool: "answer", input: plain(input) } };
}

function firstQuery({ place: { task, seed, turns }, question }: View): Query | null {
  if (turns.length > 0) return null;
  const isPlain = random(seed).derive("gold-chain", task.id, "start").next() < QUESTION_FIRST;
  return isPlain ? { text: question, reason: "question" } : null;
}

function nextQuery(view: View): Query | null {
  const { steps, isDone, isKnown, asked, place } = view;
  const secrets = [...place.task.references, ...stepAnswers(place.task)];
  const open = steps.filter((step) => !isDone(step));
  const isReady = ({ uses, names }: SoughtStep): boolean =>
    uses.every((number) => steps[number] === undefined || isDone(steps[number])) &&
    (names.length === 0 || names.some(isKnown));
  const anything = { passage: null, wanted: null, names: [], uses: [], answer: null };
  for (const step of [...open.filter(isReady), ...open.filter((s) => !isReady(s)), anything]) {
    // A step's query may contain answers of other steps.
    const asking = isReady(step) ? step : { ...step, wanted: null };
    for (const query of queriesFor(asking, view)) {
      const inQuery = mentionsIn(query.text);
      const leaks = secrets.some((each) => inQuery(each) && !isKnown(each));
      const key = keyOf(query.text);
      if (!leaks && key !== "" && !asked.has(key)) return query;
    }
  }
  return null;
}

function vague(query: string, question: string): string {
  const bare = (text: string): string => contentOf(text.replace(/[\p{Lu}\p{N}]\S*/gu, " "));
  return bare(query) || bare(question) || query;
}

function queriesOf(turns: readonly Turn[]): string[] {
  return turns.flatMap(({ actions }) =>
    actions.flatMap(({ tool, input }) => (tool === "answer" ? [] : [keyOf(input)])),
  );
}

function keyOf(query: string): string {
  return wordsOf(query).join(" ");
}

/** Without characters that a protocol could read as tags. */
function plain(text: string): string {
  return text.replaceAll(/[<>]/g, " ").replaceAll(/\s+/g, " ").trim();
}

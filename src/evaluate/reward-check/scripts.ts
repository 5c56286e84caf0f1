import type { Environment } from "../../env/environments/environment.ts";
import { extractAnswer } from "../../env/answer-rule.ts";
import type { Protocol } from "../../env/protocols/protocol.ts";
import type { RewardCase } from "../../rewards/expectations.ts";
import { normalizeAnswer } from "../../text/answer-normalizations.ts";
import type { Task } from "../../trajectory/task.ts";

/** What a scripted policy writes, message by message; the last one again where more are asked for. */
export interface Script {
  case: RewardCase;
  messages: readonly [string, ...string[]];
  /** The accepted answer that it uses, where it uses one. */
  reference: string;
}

/** How a protocol is spoken. */
interface Spoken {
  opening: string;
  closing: string;
  answer: (text: string) => string;
  think: (text: string) => string;
  /** null where none of the known spellings searches. */
  search: ((query: string) => string) | null;
}

/**
 * Every case of the check for one task. A case that cannot be written under the protocol is left out.
 * @param tasks all tasks of the check: where wrong answers and candidates come from.
 */
export function scriptsOf(environment: Environment, task: Task, tasks: readonly Task[]): Script[] {
  const spoken = speak(environment.protocol);
  const { answer, think, opening, closing, search } = spoken;
  const [reference = ""] = task.references;
  const wrong = wrongAnswer(task, tasks);
  const everyAnswer = tasks.flatMap(({ references }) => references.slice(0, 1));
  const candidates = [wrong, ...everyAnswer].join(", ");
  const single: [RewardCase, string][] = [
    ["silent", ""],
    ["empty-answer", answer("")],
    ["garbled", answer(GARBLED)],
    ["wrong", answer(wrong)],
    ["tag-spam", (opening + closing).repeat(20) + opening.repeat(20)],
    ["prompt-echo", environment.start(task, { trajectoryId: "", seed: 0 }).prompt],
    ["question-as-answer", answer(task.question)],
    ["answer-in-think", think(`The answer is ${reference}.`)],
    ["tag-in-think", think(answer(reference))],
    ["unclosed-tag", `${opening}${reference}`],
    ["two-answers", answer(wrong) + answer(reference)],
    ["alternatives", answer(`${wrong} or ${reference}`)],
    ["candidates", answer(candidates)],
    ["repeated", answer(Array.from({ length: 4 }, () => reference).join(" "))],
    ["very-long", answer(`${reference}${" word".repeat(1000)}`)],
    ["unicode", answer(disguised(reference))],
  ];
  const found = search === null ? [] : [[search(task.question), "I have seen it."] as const];
  return [
    ...task.references.map((each): Script => {
      return { case: "golden", messages: [answer(each)], reference: each };
    }),
    ...single.map(([name, message]): Script => {
      return { case: name, messages: [message], reference };
    }),
    ...found.map((messages): Script => ({ case: "answer-in-observation", messages, reference })),
  ];
}

/** Words of no language. */
const GARBLED = "qzxv wkjpq %7 xxzzq";

/** What fits no question. */
const NOWHERE = "qzvx nowhere";

/** An answer of another task that shares no word with this one's. */
function wrongAnswer(task: Task, tasks: readonly Task[]): string {
  const own = new Set(task.references.flatMap(wordsOf));
  const others = tasks.flatMap(({ references }) => references);
  return (
    others.find((text) => text !== "" && !wordsOf(text).some((word) => own.has(word))) ?? NOWHERE
  );
}

function wordsOf(text: string): string[] {
  return normalizeAnswer(text).split(" ");
}

/** Looks the same: a zero-width space behind every sign that is no white space. */
function disguised(text: string): string {
  return text.replace(/\S/gu, "$&\u200b");
}

/** How searches are written, by the protocols that are known; each is tried. */
const SEARCHES: readonly ((query: string) => string)[] = [
  (query) => `<search>${query}</search>`,
  (query) => `<tool_call>${JSON.stringify({ name: "search", arguments: { query } })}</tool_call>`,
];

function speak(protocol: Protocol): Spoken {
  const { answerOpening: opening, answer: rule } = protocol;
  // What stands behind the group, without the signs that only a pattern needs.
  const closing = rule.pattern
    .slice(rule.pattern.lastIndexOf(")") + 1)
    .replace(/\\(.)|[$^]/g, "$1");
  const parsed = (text: string): string | undefined => protocol.parse(text).actions[0]?.tool;
  return {
    ...{ opening, closing },
    answer: (text) => `${opening}${text}${closing}`,
    think: (text) => `<think>${text}</think>`,
    search: SEARCHES.find((write) => parsed(write("x")) === "search") ?? null,
  };
}

/** Whether answers can be written under a protocol at all: what is put between its tags is what it extracts. */
export function canAnswer(protocol: Protocol): boolean {
  const messages = [speak(protocol).answer("x")];
  return extractAnswer({ ...protocol.answer, atLeast: 1 }, { prompt: "", messages }) === "x";
}

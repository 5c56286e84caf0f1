import { answerIn } from "../../env/protocols/protocol.ts";
import { type Environment, firstPrompt } from "../../env/environments/environment.ts";
import type { RewardCase } from "../../rewards/expectations.ts";
import { normalizeAnswer } from "../../text/answer-normalizations.ts";
import type { Task } from "../../trajectory/task.ts";

/** The messages of a scripted policy; it repeats the last one. */
export interface Script {
  case: RewardCase;
  messages: readonly [string, ...string[]];
  reference: string;
}

interface Writing {
  opening: string;
  closing: string;
  answer: (text: string) => string;
  /** null if the protocol has no place for thoughts. */
  think: ((text: string) => string) | null;
  /** null if the environment has no search tool, or the protocol cannot write its call. */
  search: ((query: string) => string) | null;
  /** A message after a reply: it closes the thought that the protocol may have opened there. */
  after: (text: string) => string;
}

/** Every case of the check for one task that the protocol can write. @param tasks all tasks: wrong answers come from them. */
export function scriptsOf(environment: Environment, task: Task, tasks: readonly Task[]): Script[] {
  const { answer, think, opening, closing, search, after } = writingUnder(environment);
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
    ["prompt-echo", firstPrompt(environment, task)],
    ["question-as-answer", answer(task.question)],
    ...(think === null ? [] : thoughts(think, answer, reference)),
    ["unclosed-tag", `${opening}${reference}`],
    ["two-answers", answer(wrong) + answer(reference)],
    ["alternatives", answer(`${wrong} or ${reference}`)],
    ["candidates", answer(candidates)],
    ["repeated", answer(Array.from({ length: 4 }, () => reference).join(" "))],
    ["very-long", answer(`${reference}${" word".repeat(1000)}`)],
    ["unicode", answer(reference.replace(/\S/gu, "$&\u200b"))],
  ];
  const scripts: Script[] = [
    ...task.references.map((each): Script => {
      return { case: "golden", messages: [answer(each)], reference: each };
    }),
    ...single.map(([name, message]): Script => {
      return { case: name, messages: [message], reference };
    }),
  ];
  if (search === null) return scripts;
  const found = search(task.question);
  return [
    ...scripts,
    { case: "golden-after-search", messages: [found, after(answer(reference))], reference },
    { case: "answer-in-observation", messages: [found, after("I have seen it.")], reference },
  ];
}

function thoughts(
  think: (text: string) => string,
  answer: Writing["answer"],
  reference: string,
): [RewardCase, string][] {
  return [
    ["answer-in-think", think(`The answer is ${reference}.`)],
    ["tag-in-think", think(answer(reference))],
  ];
}

/** Words of no language, and no number: a reference may contain any. */
const GARBLED = "qzxv wkjpq %# xxzzq";

const NOWHERE = "qzvx nowhere";

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

function writingUnder({ protocol, toolSchemas }: Environment): Writing {
  const write = (tool: string, input: string): string =>
    protocol.write({ thought: "", action: { tool, input } }, toolSchemas);
  const answer = (text: string): string => write("answer", text);
  const written = answer(MARK);
  const thought = protocol.tags.find(({ holds }) => holds === "thought");
  const searches = protocol.parse(write("search", MARK)).actions[0]?.tool === "search";
  const hasSearch = toolSchemas.some((schema) => schema.function.name === "search");
  return {
    answer,
    opening: protocol.answerOpening,
    closing: written.slice(written.lastIndexOf(MARK) + MARK.length),
    think: thought === undefined ? null : (text) => `${thought.opening}${text}${thought.closing}`,
    search: searches && hasSearch ? (query) => write("search", query) : null,
    after: (text) =>
      protocol.messageOpening === undefined || thought === undefined
        ? text
        : `${thought.closing}\n${text}`,
  };
}

const MARK = "qzvx";

/** Whether a protocol can write answers: what its answer rule finds must hold them, alone or, for a reward that takes its own part, within a message. */
export function canAnswer(environment: Environment): boolean {
  const { protocol } = environment;
  const answer = { ...protocol.answer, atLeast: 1 };
  const messages = [writingUnder(environment).answer(MARK)];
  return answerIn({ ...protocol, answer }, { prompt: "", messages })?.includes(MARK) ?? false;
}

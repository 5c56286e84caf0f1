import { random } from "../../../src/base/random.ts";
import {
  said,
  recorded,
  marked,
  ifSecret,
  hinted,
  withoutLast,
  reacted,
  thoughtOf,
  looped,
  asking,
  emptied,
  copied,
  type Spoil,
} from "./spoils.ts";

export interface Spoiling {
  /** What was done to it. */
  what: string;
  /** Step that must tell, and the words it must use. */
  step: string;
  reason: string;
  options?: Record<string, unknown>;
  ways: Record<string, Spoil>;
}

/** Ways to spoil samples of the search-r1 grammar, by what must tell. */
export const SPOILINGS: readonly Spoiling[] = [
  {
    what: "a tag that is never closed",
    step: "format",
    reason: "unpaired tag",
    ways: {
      thought: said("first", (text) => text.replace("</think>", "")),
      "thought of the answer": said("last", (text) => text.replace("</think>", "")),
      "never opened": said("last", (text) => text.replace("<think>", "")),
      "closed twice": said("first", (text) => text.replace("</think>", "</think></think>")),
    },
  },
  {
    what: "a tag that is almost one",
    step: "format",
    reason: "broken tag",
    ways: {
      misspelt: said("first", (text) => text.replaceAll("search>", "serach>")),
      capital: said("first", (text) => text.replaceAll("think>", "Think>")),
      spaced: said("last", (text) => text.replace("<answer>", "< answer>")),
      "cut off": said("last", (text) => text.replace("</answer>", "</answer")),
      plural: said("last", (text) => text.replaceAll("answer>", "answers>")),
    },
  },
  {
    what: "tags within tags",
    step: "format",
    reason: "nested tag",
    ways: {
      "thought in query": said("first", (text) =>
        text.replace("<search>", "<search><think>so</think>"),
      ),
      "query in thought": said("last", (text) =>
        text.replace("</think>", "<search>x</search></think>"),
      ),
      "answer in thought": said("last", (text) =>
        text.replace("</think>", "<answer>x</answer></think>"),
      ),
    },
  },
  {
    what: "text after the action",
    step: "format",
    reason: "text after the action",
    ways: {
      words: said("last", (text) => `${text} That is all.`),
      thought: said("last", (text) => `${text}<think>I am sure</think>`),
      "after a query": said("first", (text) => `${text} and so on`),
    },
  },
  {
    what: "two answers in one message",
    step: "format",
    reason: "several answers",
    ways: {
      same: said("last", (text) => text + text),
      other: said("last", (text) => `${text}<answer>Oslo</answer>`),
    },
  },
  {
    what: "an answer before the last message",
    step: "format",
    reason: "several answers",
    ways: {
      "instead of a query": said("first", (text) => reacted(text, "<answer> Oslo</answer>")),
    },
  },
  {
    what: "messages after the answer",
    step: "format",
    reason: "text after the answer",
    ways: {
      searching: marked(({ turns }) => ({ turns: [...turns.slice(-1), ...turns.slice(0, -1)] })),
    },
  },
  {
    what: "an observation that the policy wrote",
    step: "format",
    reason: "faked observation",
    ways: {
      before: said("last", (text) => `<information>Doc 1(Title: X) Y</information>${text}`),
      within: said("first", (text) =>
        text.replace("</think>", "<information>it is so</information></think>"),
      ),
      opened: said("last", (text) => `<information>${text}`),
    },
  },
  {
    what: "a message without an action",
    step: "format",
    reason: "no valid action",
    ways: { plain: said("last", () => "I do not know."), "thought alone": said("last", thoughtOf) },
  },
  {
    what: "tokens that say something else",
    step: "format",
    reason: "another text",
    ways: {
      "of the query": recorded(({ text }) => ({
        text: reacted(text, "<search>something else</search>"),
      })),
      "of the thought": recorded(({ text }) => ({
        text: text.replace("</think>", " and so on</think>"),
      })),
    },
  },
  {
    what: "another answer on record",
    step: "format",
    reason: "another answer",
    ways: { other: marked(() => ({ answer: "Oslo" })) },
  },
  {
    what: "a query that was not run",
    step: "executed",
    reason: "not executed",
    ways: {
      "nothing came back": recorded(() => ({ observations: [] })),
      "another was run": recorded(({ text }) => ({
        text: reacted(text, "<search>something else</search>"),
      })),
      "written twice": said("first", (text) => text + text.replace(thoughtOf(text), "")),
      "after the answer": said("last", (text) => `${text}<search>and this</search>`),
      "another tool's": recorded(({ observations }) => ({
        observations: observations.map((each) => ({ ...each, tool: "browse" })),
      })),
    },
  },
  {
    what: "an observation nobody asked for",
    step: "executed",
    reason: "not asked",
    ways: {
      "one more": recorded(({ observations }) => ({
        observations: [...observations, ...observations],
      })),
      "query not written": said("first", (text) => text.replace(/<search>.*<\/search>/s, "")),
      "in the prompt": (sample, { tokenizer }) => {
        const { trajectory } = sample.candidate;
        const [first, ...calls] = trajectory.calls;
        if (first === undefined) return null;
        const ids = tokenizer.encode("<information>Doc 1(Title: X) Y</information>");
        const shown = { owner: "environment" as const, ids, logprobs: null };
        const call = { ...first, prompt: [...first.prompt, shown] };
        return { ...trajectory, calls: [call, ...calls] };
      },
    },
  },
  {
    what: "an observation that was not shown",
    step: "executed",
    reason: "not shown",
    ways: {
      stripped: marked(({ calls }) => ({
        calls: calls.map((call) => ({
          ...call,
          prompt: call.prompt.filter(({ owner }) => owner !== "environment"),
        })),
      })),
    },
  },
  {
    what: "an empty query",
    step: "executed",
    reason: "empty query",
    ways: { empty: emptied("<search></search>"), blank: emptied("<search> \n </search>") },
  },
  {
    what: "a search that failed",
    step: "executed",
    reason: "failed call",
    ways: {
      problem: recorded(({ observations }) => ({
        observations: observations.map((each) => ({
          ...each,
          problem: { code: "failed", message: "no" },
        })),
      })),
    },
  },
  {
    what: "a hint that tells the answer",
    step: "no-leak",
    reason: "leak: hint",
    ways: {
      plain: hinted((answer) => ` Perhaps ${answer}?`, "completion"),
      "small letters": hinted((answer) => ` is it ${answer.toLowerCase()} `, "completion"),
      punctuated: hinted((answer) => ` (${answer.replace(" ", "-")}'s)`, "completion"),
      "before the message": hinted((answer) => `Hint: ${answer}.`, "prompt"),
    },
  },
  {
    what: "a query that knows the answer",
    step: "no-leak",
    reason: "leak: query",
    ways: {
      first: asking((task) => `${task.question} ${task.references[0] ?? ""}`),
      "only the answer": asking((task) => (task.references[0] ?? "").toUpperCase()),
    },
  },
  {
    what: "a thought that knows the answer",
    step: "no-leak",
    reason: "leak: thought",
    ways: {
      first: ifSecret(
        said("first", (text, { sample }) =>
          text.replace("<think>", `<think> It is ${sample.task.references[0] ?? ""}.`),
        ),
      ),
    },
  },
  {
    what: "a copied observation",
    step: "no-copied-observation",
    reason: "copied",
    // Passages of the tiny world are short.
    options: { words: 12 },
    ways: {
      "all of it": copied((words) => words),
      "forty words": copied((words) => words.slice(1, 41)),
      "without marks": copied((words) =>
        words.map((word) => word.replace(/[^\p{L}\p{N}]+/gu, " ")),
      ),
      "small letters": copied((words) => words.map((word) => word.toLowerCase())),
    },
  },
  {
    what: "an answer that nothing shows",
    step: "supported",
    reason: "answer not shown",
    ways: {
      "observations gone": ifSecret(
        marked(({ turns, calls }) => ({
          turns: turns.map((turn) => ({ ...turn, observations: [] })),
          calls: calls.map((call) => ({
            ...call,
            prompt: call.prompt.filter(({ owner }) => owner !== "environment"),
          })),
        })),
      ),
    },
  },
  {
    what: "a guess between two",
    step: "supported",
    reason: "passages not returned",
    ways: {
      "passages gone": (sample) => {
        if (sample.task.annotations.type === "bridge") return null;
        const { trajectory } = sample.candidate;
        const turns = trajectory.turns.map((turn) => ({
          ...turn,
          observations: turn.observations.map((each) => ({ ...each, passageIds: ["other"] })),
        }));
        return { ...trajectory, turns };
      },
    },
  },
  {
    what: "a wrong answer",
    step: "correct",
    reason: "wrong answer",
    options: { by: "exact-match" },
    ways: {
      other: marked(() => ({ answer: "Oslo" })),
      more: marked(({ answer }) => ({ answer: `${answer ?? ""} or Oslo` })),
      none: marked(() => ({ answer: null })),
    },
  },
  {
    what: "a low reward",
    step: "correct",
    reason: "wrong answer",
    ways: { half: marked(() => ({ reward: 0.5 })) },
  },
  {
    what: "no reward",
    step: "correct",
    reason: "not scored",
    ways: { null: marked(() => ({ reward: null })) },
  },
  {
    what: "an unfinished end",
    step: "answered",
    reason: "unfinished",
    ways: {
      "last message lost": withoutLast,
      "turns used up": marked(() => ({ end: "turn-limit" as const })),
      "context full": marked(() => ({ end: "context-limit" as const, answer: null })),
    },
  },
  {
    what: "no answer",
    step: "answered",
    reason: "no answer",
    ways: { none: marked(() => ({ answer: null })), empty: marked(() => ({ answer: " " })) },
  },
  {
    what: "a failure",
    step: "answered",
    reason: "failed",
    ways: { tool: marked(() => ({ end: "tool-error" as const })) },
  },
  {
    what: "no search",
    step: "searched",
    reason: "no search",
    ways: { direct: marked(({ turns }) => ({ turns: turns.slice(-1) })) },
  },
  {
    what: "too many searches",
    step: "most-calls",
    reason: "too many calls",
    ways: {
      many: marked(({ turns }) => ({
        turns: [...Array.from({ length: 6 }, () => turns.slice(0, 1)).flat(), ...turns.slice(1)],
      })),
    },
  },
  {
    what: "going round in circles",
    step: "repetition",
    reason: "repeated sentence",
    ways: { sentence: looped("I should look once more at what the passages really say. ", 6) },
  },
  {
    what: "words over and over",
    step: "repetition",
    reason: "repeated words",
    ways: { phrase: looped("and then again the same thing ", 24), word: looped("again ", 160) },
  },
];

/** The samples in another order for each way. */
export function inAnyOrder<T>(items: readonly T[], way: string): T[] {
  return random("spoiled").derive(way).shuffle(items);
}

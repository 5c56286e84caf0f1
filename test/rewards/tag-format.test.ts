import { describe, expect, it } from "vitest";
import { tagFormat } from "../../src/rewards/tag-format.ts";
import { rollOut } from "../../src/rollout/roll-out.ts";
import { scoreWith } from "../helpers/reward-context.ts";
import { replay, rolloutOptions, searchEnvironment, task } from "../helpers/search-world.ts";

async function formatOf(
  messages: string[],
  options: Record<string, unknown> = {},
  environment: Record<string, unknown> = {},
): Promise<unknown> {
  const given = { policy: replay(messages), environment: searchEnvironment(environment) };
  const trajectory = await rollOut(rolloutOptions(given), { maxTurns: 4 });
  return (await scoreWith(tagFormat, [{ trajectory, task }], options))[0];
}

const SEARCH = "<think> I look it up</think><search> capital Norway</search>";
const ANSWER = "<think> I know</think><answer> Oslo</answer>";

describe("tag-format", () => {
  it("is 1 for thoughts and searches in turn and then an answer", async () => {
    expect(await formatOf([SEARCH, ANSWER])).toBe(1);
    expect(await formatOf([ANSWER])).toBe(1);
    expect(await formatOf(["<think>a</think><answer>a</answer>"])).toBe(1);
    expect(await formatOf([`\n${SEARCH}\n`, SEARCH, ` ${ANSWER}`])).toBe(1);
  });

  it.each([
    ["an action without a thought", ["<answer>Oslo</answer>"]],
    ["a later message without a thought", [SEARCH, "<answer>Oslo</answer>"]],
    ["text outside of the tags", [`So ${SEARCH}`, ANSWER]],
    ["text between thought and action", ["<think>a</think> so <answer>Oslo</answer>"]],
    ["two thoughts", [`<think>a</think>${ANSWER}`]],
    ["a thought that is not closed", ["<think> I know<answer> Oslo</answer>"]],
    ["a corrected message", ["Oslo", ANSWER]],
    [
      "a result that the policy made up",
      ["<think>a</think><answer> <information>x</information></answer>"],
    ],
    ["no answer", [SEARCH, SEARCH, SEARCH, SEARCH]],
  ])("is 0 for %s", async (_, messages) => {
    expect(await formatOf(messages)).toBe(0);
  });

  it("demands other blocks, allows more, and limits the answer's words, by option", async () => {
    const protocol = { name: "search-r1", resultTag: "documents", blocks: ["refine"] };
    const refined = [SEARCH, "<think> a</think><refine> Oslo</refine><answer> Oslo</answer>"];
    expect(await formatOf(refined, {}, { protocol })).toBe(0);
    expect(await formatOf(refined, { optional: ["refine"] }, { protocol })).toBe(1);
    expect(await formatOf(refined, { blocks: ["think", "refine"] }, { protocol })).toBe(0);
    expect(await formatOf(["<answer>Oslo</answer>"], { blocks: [] })).toBe(1);
    const long = ["<think>a</think><answer>one two three</answer>"];
    expect(await formatOf(long, { answerWords: 2 })).toBe(0);
    expect(await formatOf(long, { answerWords: 3 })).toBe(1);
  });

  it("checks the answer or the calls alone, by option", async () => {
    const loose = "So <search> capital Norway</search>";
    const both = async (messages: string[]) => [
      await formatOf(messages, { only: "calls" }),
      await formatOf(messages, { only: "answer" }),
    ];
    expect(await both([SEARCH, ANSWER])).toEqual([1, 1]);
    expect(await both([loose, ANSWER])).toEqual([0, 1]);
    expect(await both([SEARCH, "<answer>Oslo</answer>"])).toEqual([1, 0]);
    expect(await both([SEARCH, SEARCH, SEARCH, SEARCH, SEARCH])).toEqual([1, 0]);
    expect(await both([ANSWER])).toEqual([1, 1]);
  });

  it("gives each message its own value, by option", async () => {
    const loose = "So <search> capital Norway</search>";
    const turns = (messages: string[], options: object) =>
      formatOf(messages, { ...options, per: "turn" });
    const [right, wrong] = [1, 0];
    expect(await turns([SEARCH, loose, ANSWER], { only: "calls" })).toEqual([
      { turn: 0, value: right },
      { turn: 1, value: wrong },
    ]);
    const long = { only: "answer", answerWords: 1 };
    expect(await turns([loose, ANSWER], long)).toEqual([{ turn: 1, value: right }]);
    expect(await turns([loose, "<think>a</think><answer>a b</answer>"], long)).toEqual([
      { turn: 1, value: wrong },
    ]);
    expect(await turns([SEARCH, SEARCH, SEARCH, SEARCH], { only: "answer" })).toEqual([]);
  });

  it("reads grammars whose tags are no names", async () => {
    const callTags = { search: { opening: "<|begin_of_query|>", closing: "<|end_of_query|>" } };
    const query = "<think> a</think><|begin_of_query|> capital Norway<|end_of_query|>";
    expect(await formatOf([query, ANSWER], {}, { protocol: { name: "tags", callTags } })).toBe(1);
  });

  it("takes several answers with their blocks, by option", async () => {
    const environment = { protocol: { name: "tags", intermediateAnswers: true } };
    const option = { intermediateAnswers: true };
    expect(await formatOf([ANSWER + ANSWER], option, environment)).toBe(1);
    expect(await formatOf([`${ANSWER}\n${ANSWER}`], option, environment)).toBe(1);
    expect(await formatOf([ANSWER], option, environment)).toBe(1);
    expect(await formatOf([ANSWER + ANSWER], {}, environment)).toBe(0);
    const bare = "<answer> Oslo</answer>";
    for (const wrong of [ANSWER + bare, bare + ANSWER, `${ANSWER} so ${ANSWER}`, `${ANSWER} so`])
      expect(await formatOf([wrong], option, environment)).toBe(0);
    const thought = "<think> I know</think>";
    expect(await formatOf([thought + ANSWER], option, environment)).toBe(0);
    expect(await formatOf([ANSWER + thought], option, environment)).toBe(0);
  });
});

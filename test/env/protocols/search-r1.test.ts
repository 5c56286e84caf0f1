import { describe, expect, it } from "vitest";
import { searchR1 } from "../../../src/env/protocols/search-r1.ts";

const protocol = searchR1.create({});
const cut = (text: string): string => text.slice(0, protocol.findCut(text) ?? undefined);
const read = (text: string) => protocol.parse(cut(text)).actions;

describe("search-r1 protocol", () => {
  it("cuts after the first </search>, whatever follows", () => {
    expect(cut("<think>a</think><search>x</search> <search>y</search>")).toBe(
      "<think>a</think><search>x</search>",
    );
  });

  it("cuts after the first </answer> only where there is no </search>", () => {
    expect(cut("<answer>a</answer> and <answer>b</answer>")).toBe("<answer>a</answer>");
    expect(cut("<answer>a</answer> <search>x</search> z")).toBe(
      "<answer>a</answer> <search>x</search>",
    );
    expect(protocol.findCut("<search>x <answer>a")).toBeNull();
  });

  it("acts on the first complete search or answer of the cut text", () => {
    expect(read("<search> capital of\nNorway </search>")).toEqual([
      { tool: "search", input: "capital of\nNorway" },
    ]);
    expect(read("<answer>a</answer> <search>x</search>")).toEqual([{ tool: "answer", input: "a" }]);
    expect(read("<search> <answer>a</answer>")).toEqual([{ tool: "answer", input: "a" }]);
    expect(read("<search>x <answer>a</answer> y</search>")).toEqual([
      { tool: "search", input: "x <answer>a</answer> y" },
    ]);
    expect(read("<search>x</answer> <answer>a</search>")).toEqual([
      { tool: "search", input: "x</answer> <answer>a" },
    ]);
  });

  it("makes a problem of a message without an action", () => {
    for (const text of [
      "",
      "Oslo",
      "<search>x",
      "x</search>",
      "<answer>a</search>",
      "<SEARCH>x</SEARCH>",
    ]) {
      expect(protocol.parse(cut(text))).toEqual({
        actions: [],
        problems: [{ code: "no-action", message: "neither search nor answer" }],
      });
    }
  });

  it("writes observations between information tags, with a blank line on both sides", () => {
    expect(
      protocol.renderObservations([{ tool: "search", text: "Doc 1(Title: Oslo) A city.\n" }]),
    ).toBe("\n\n<information>Doc 1(Title: Oslo) A city.\n</information>\n\n");
  });

  it("answers a bad message with a correction that names both tags, or with the recipe's own", () => {
    expect(protocol.renderProblems([])).toMatchInlineSnapshot(`
      "
      That message had no valid action. To search, I write the query between <search> and </search>; to finish, I write the answer between <answer> and </answer>. Let me try again.
      "
    `);
    expect(searchR1.create({ invalidMessage: "Again." }).renderProblems([])).toBe("Again.");
  });

  it("reads the answer by a rule that a recipe can change", () => {
    expect(protocol.answer).toEqual({
      scope: "response",
      pattern: "<answer>(.*?)</answer>",
      pick: "last",
      atLeast: 1,
    });
    const answer = { scope: "prompt-and-response", pattern: "<answer>(.*?)</answer>", atLeast: 2 };
    expect(searchR1.create({ answer }).answer).toMatchObject(answer);
  });
});

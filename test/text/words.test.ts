import { describe, expect, it } from "vitest";
import { isFunctionWord, mentionsIn, repeatedQueryShare, wordsOf } from "../../src/text/words.ts";

describe("words of a text", () => {
  it("have no case, accents, marks or articles", () => {
    expect(wordsOf("The Café-Bar of São Paulo!")).toEqual(["cafe", "bar", "of", "sao", "paulo"]);
    expect(wordsOf("東京都")).toEqual(["東京", "京都"]);
  });

  it("are of grammar or not", () => {
    expect(["who", "of", "yes", "us"].every(isFunctionWord)).toBe(true);
    expect(["oslo", "born", "1977"].some(isFunctionWord)).toBe(false);
  });
});

describe("an answer is mentioned", () => {
  it.each([
    ["Norway's capital", "Norway"],
    ["the US Navy", "U.S."],
    ["1000 men", "1,000"],
    ["“Animorphs” is a series", "animorphs"],
    ["acid house", "Acid-House"],
    ["by Dvorak", "Dvořák"],
    ["Beatles records", "The Beatles"],
    ["彼は東京都に住む", "東京"],
  ])("in %j: %s", (text, answer) => {
    expect(mentionsIn(text)(answer)).toBe(true);
  });

  it.each([
    ["nothing", "no"],
    ["Oslofjord", "Oslo"],
    ["Park of the Oslo", "Oslo Park"],
    ["The", "the"],
    ["anything", "?"],
    ["", ""],
  ])("not in %j: %j", (text, answer) => {
    expect(mentionsIn(text)(answer)).toBe(false);
  });
});

describe("repeatedQueryShare", () => {
  it("is the share of queries whose words an earlier one had in the same order", () => {
    expect(repeatedQueryShare(["the seat", "Seat!", "Oslo"])).toBe(1 / 3);
    expect(repeatedQueryShare(["x", "x", "x", "x"])).toBe(3 / 4);
  });

  it("is 0 for one query and does not apply without any", () => {
    expect(repeatedQueryShare(["x"])).toBe(0);
    expect(repeatedQueryShare([])).toBeNull();
  });

  it("takes another notion of what a repetition is", () => {
    const sameLetter = (query: string, earlier: readonly string[]): boolean =>
      earlier.some((each) => each[0] === query[0]);
    expect(repeatedQueryShare(["oslo", "ogna", "bergen"], sameLetter)).toBe(1 / 3);
  });
});

import { describe, expect, it } from "vitest";
import { isFunctionWord, mentionsIn, wordsOf } from "../../src/text/words.ts";

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

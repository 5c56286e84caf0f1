import { describe, expect, it } from "vitest";
import { simulatedDocuments } from "../../../src/retrieval/remote/llm-search.ts";

const textsOf = (answer: string, k = 5) => simulatedDocuments(answer, k).map(({ text }) => text);

describe("simulated documents", () => {
  it("are what stands between numbered headings", () => {
    expect(textsOf("Doc 1: Oslo is\na city.\nDoc 2: It rains.\n\nDoc 3: Peru.")).toEqual([
      "Oslo is a city.",
      "It rains.",
      "Peru.",
    ]);
  });

  it("are found however a model numbers them", () => {
    const answers = [
      "Here you are:\n**Doc 1:** one\n**Doc 2:** two",
      "Document 1 - one\nDocument 2 - two",
      "[1] one\n[2] two",
      "1. one\n2) two",
      "### Doc #1\none\n### Doc #2\ntwo",
      "doc1: one\r\ndoc2: two",
      "> Passage 1: one\n> Passage 2: two",
      "<think>Doc 1: no</think>\nDoc 1: one\nDoc 2: two",
    ];
    for (const answer of answers) {
      expect(textsOf(answer).map((text) => text.replace(/ ?>$/, ""))).toEqual(["one", "two"]);
    }
  });

  it("keep a year at the start of a sentence and numbers within one", () => {
    expect(textsOf("Doc 1: In the year\n1984 was written.\nDoc 2: It has 3 parts.")).toEqual([
      "In the year 1984 was written.",
      "It has 3 parts.",
    ]);
  });

  it("may be fewer than asked for, or none, and never more", () => {
    expect(textsOf("Doc 1: one\nDoc 2:\nDoc 3: three")).toEqual(["one", "three"]);
    expect(textsOf("I cannot help with that.")).toEqual([]);
    expect(textsOf("")).toEqual([]);
    expect(textsOf("<think>Doc 1: never ended")).toEqual([]);
    expect(textsOf("Doc 1: one\nDoc 2: two\nDoc 3: three", 2)).toEqual(["one", "two"]);
  });

  it("have a title where one is given, a score by place and one id for one text", () => {
    const [first, second, third] = simulatedDocuments(
      'Doc 1(Title: "Oslo") A city.\nDoc 2: It rains.\nDoc 3: It rains.',
      5,
    );
    expect(first).toMatchObject({ title: "Oslo", text: "A city.", score: 1 });
    expect(second).toMatchObject({ title: "", text: "It rains.", score: 0.5 });
    expect(second!.id).toMatch(/^simulated-[0-9a-f]{16}$/);
    expect(third).toBeUndefined();
  });
});

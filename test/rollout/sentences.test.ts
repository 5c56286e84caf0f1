import { expect, it } from "vitest";
import { firstLine, sentencesOf } from "../../src/rollout/sentences.ts";

it("ends sentences at marks before white space and at lines' ends, not at initials and abbreviations", () => {
  expect(sentencesOf("J. Doe was born in St. Ives. He sang! (Why?) \nFor 3.5 years")).toEqual([
    ...["J. Doe was born in St. Ives.", "He sang!", "(Why?)", "For 3.5 years"],
  ]);
  expect(sentencesOf(" \n ")).toEqual([]);
});

it("takes the first line that holds anything", () => {
  expect(firstLine("\n  \n a b \nc")).toBe("a b");
  expect(firstLine("\n")).toBe("");
});

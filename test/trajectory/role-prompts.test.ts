import { describe, expect, it } from "vitest";
import {
  entailmentPrompt,
  judgePrompt,
  readerPrompt,
  simulatorPrompt,
} from "../../src/trajectory/role-prompts.ts";

const passages = [
  { title: "Oslo", text: "Oslo is a town." },
  { title: "Bergen", text: "It rains." },
];

describe("prompts of roles", () => {
  it("show questions, passages and answers, and open the reply", () => {
    const shown =
      "<information>Doc 1(Title: Oslo) Oslo is a town.\nDoc 2(Title: Bergen) It rains.</information>";
    const question = "What is Oslo?";
    expect(readerPrompt({ passages, question })).toBe(
      `Question: What is Oslo?\n${shown}\n<answer>`,
    );
    expect(entailmentPrompt({ passages, sentence: "Oslo is a river." })).toBe(
      `Question: Oslo is a river. Is it true?\n${shown}\n<answer>`,
    );
    expect(judgePrompt({ references: ["a town", "town"], answer: "city" })).toBe(
      "Question: Is it true? Right: a town or town Answer: city\n<answer>",
    );
    expect(simulatorPrompt({ query: "Oslo", question, answer: "a town", quality: "noisy" })).toBe(
      "Question: What is Oslo? Answer: a town Query: Oslo Passages: noisy\n<answer>",
    );
  });
});

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { compileChatTemplate } from "../../../src/chat/chat-template.ts";
import { teacherText } from "../../../src/synth/exports/teacher-text.ts";
import { makeTokenizer } from "../../../src/text/tokenizer.ts";
import { wordTokenizer } from "../../../src/text/word-tokenizer.ts";
import { errorWith } from "../../helpers/error-with.ts";

const source = readFileSync(
  new URL("../../golden/chat-templates/chatml.jinja", import.meta.url),
  "utf8",
);
const template = compileChatTemplate(source, { specialTokens: {}, where: "chatml.jinja" });
const files = wordTokenizer({ words: ["one"], specials: ["<end>", "<pad>"] });
const tokenizer = makeTokenizer(files.tokenizer, files.config, "test");

describe("what a teacher was shown", () => {
  const { promptOf } = teacherText({ tokenizer, template }, "test");
  const asked = { role: "user", content: "Who?\n" };

  it("is taken out of its chat template again, with a message of the system and without", () => {
    const system = { role: "system", content: "Be brief." };
    const whole = template.render([system, asked], { addGenerationPrompt: true });
    expect(promptOf(whole)).toEqual({ system: "Be brief.", user: "Who?\n" });
    const bare = template.render([asked], { addGenerationPrompt: true });
    expect(promptOf(bare).user).toBe("Who?\n");
  });

  it("is a user's message where it went through none", () => {
    expect(promptOf("Question: who?\n")).toEqual({ system: null, user: "Question: who?\n" });
  });
});

describe("what a teacher wrote", () => {
  it("is its tokens' text without the end token, or the text that was kept", () => {
    const { textOf } = teacherText({ tokenizer, template: null }, "test");
    const ids = [...tokenizer.encode("one river"), ...tokenizer.endIds];
    expect(textOf({ owner: "policy", ids, logprobs: null })).toBe("one river");
    expect(textOf({ owner: "policy", ids: [], logprobs: null, text: "kept" })).toBe("kept");
  });

  it("cannot be told from ids without their tokenizer", () => {
    const { textOf } = teacherText(null, "samples.jsonl:3");
    expect(() => textOf({ owner: "policy", ids: [1], logprobs: null })).toThrow(
      errorWith("EXPORT_TOKENS", "samples.jsonl:3"),
    );
  });
});

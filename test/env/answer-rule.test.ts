import { describe, expect, it } from "vitest";
import { answerRuleSchema, extractAnswer, type AnswerRule } from "../../src/env/answer-rule.ts";
import { parseOptions } from "../../src/base/schema.ts";
import { naming } from "../helpers/naming.ts";

const rule = (changes: Partial<AnswerRule> = {}): AnswerRule =>
  answerRuleSchema.parse({ pattern: "<answer>(.*?)</answer>", ...changes });

const said = (...messages: string[]) => ({ prompt: "Write <answer>Beijing</answer>.", messages });

describe("extractAnswer", () => {
  it("takes the last answer of what the policy wrote, trimmed, over line ends", () => {
    const texts = said("<answer>Lima</answer>", "no: <answer>\n Oslo\n</answer>");
    expect(extractAnswer(rule(), texts)).toBe("Oslo");
    expect(extractAnswer(rule({ pick: "first" }), texts)).toBe("Lima");
  });

  it("finds none in a response without an answer, whatever the prompt shows", () => {
    expect(extractAnswer(rule(), said("I do not know", ""))).toBeNull();
    expect(extractAnswer(rule(), said())).toBeNull();
  });

  it("does not join an answer out of two messages", () => {
    expect(extractAnswer(rule(), said("<answer>Os", "lo</answer>"))).toBeNull();
  });

  it("keeps an empty answer apart from none", () => {
    expect(extractAnswer(rule(), said("<answer> </answer>"))).toBe("");
  });

  it("reads the last message alone when told so", () => {
    const texts = said("<answer>Lima</answer>", "hm");
    expect(extractAnswer(rule({ scope: "last-message" }), texts)).toBeNull();
    expect(extractAnswer(rule(), texts)).toBe("Lima");
  });

  it("states the released code's quirk: one match of the prompt is discounted, two answer for a silent rollout", () => {
    const quirk = rule({ scope: "prompt-and-response", atLeast: 2 });
    const one = (message: string) => ({
      prompt: "Write <answer>Beijing</answer>.",
      messages: [message],
    });
    expect(extractAnswer(quirk, one("I do not know"))).toBeNull();
    expect(extractAnswer(quirk, one("<answer>Oslo</answer>"))).toBe("Oslo");
    const released = "Write it inside <answer> and </answer>, as <answer> Beijing </answer>.";
    expect(extractAnswer(quirk, { prompt: released, messages: ["no idea"] })).toBe("Beijing");
  });
});

describe("answerRuleSchema", () => {
  it("refuses a pattern that is no regular expression, or has no group to read", () => {
    for (const pattern of ["(", "answer: .*"]) {
      expect(() => parseOptions(answerRuleSchema, { pattern }, "answer")).toThrow(
        expect.objectContaining({ code: "RECIPE_BAD_VALUE" }) as Error,
      );
    }
    expect(() => parseOptions(answerRuleSchema, { pattern: "(" }, "answer")).toThrow(
      naming("answer.pattern", '"("'),
    );
  });
});

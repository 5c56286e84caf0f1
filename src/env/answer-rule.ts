import { z } from "../base/schema.ts";

/** How the final answer is read out of a trajectory: data, so that a recipe can state a paper's quirk. */
export const answerRuleSchema = z.strictObject({
  /** Text that is searched: everything the policy wrote, its last message, or the prompt as well. */
  scope: z.enum(["response", "last-message", "prompt-and-response"]).default("response"),
  /** Regular expression whose first group is the answer; `.` matches line ends. */
  pattern: z.string(),
  /** Which match counts. */
  pick: z.enum(["first", "last"]).default("last"),
  /** Fewer matches than this are no answer. */
  atLeast: z.int().min(1).default(1),
});

export type AnswerRule = z.output<typeof answerRuleSchema>;

/**
 * The final answer, trimmed, or null.
 * @param texts prompt and messages as text.
 * @example extractAnswer({ pattern: "<answer>(.*?)</answer>", … }, { prompt: "", messages: ["<answer> Oslo</answer>"] }) // "Oslo"
 */
export function extractAnswer(
  rule: AnswerRule,
  texts: { prompt: string; messages: readonly string[] },
): string | null {
  const response = texts.messages.join("");
  const searched = {
    response,
    "last-message": texts.messages.at(-1) ?? "",
    "prompt-and-response": texts.prompt + response,
  }[rule.scope];
  const matches = [...searched.matchAll(new RegExp(rule.pattern, "gs"))];
  if (matches.length < rule.atLeast) return null;
  const match = rule.pick === "first" ? matches[0] : matches.at(-1);
  return match?.[1]?.trim() ?? null;
}

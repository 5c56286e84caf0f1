import { z } from "../base/schema.ts";

/** How the final answer is read out of a trajectory: data, so that a recipe can state a paper's quirk. */
export const answerRuleSchema = z.strictObject({
  /** Text that is searched: everything the policy wrote, its last message, or the prompt as well. */
  scope: z.enum(["response", "last-message", "prompt-and-response"]).default("response"),
  /** Regular expression whose first group is the answer; `.` matches line ends. A match lies within one message. */
  pattern: z
    .string()
    .refine(hasGroup, "expected a regular expression with a group, such as <answer>(.*?)</answer>"),
  /** Which match counts. */
  pick: z.enum(["first", "last"]).default("last"),
  /** Fewer matches than this are no answer. */
  atLeast: z.int().min(1).default(1),
});

export type AnswerRule = z.output<typeof answerRuleSchema>;

/**
 * The final answer, trimmed, or null.
 * @example extractAnswer({ pattern: "<answer>(.*?)</answer>", … }, { prompt: "", messages: ["<answer> Oslo</answer>"] }) // "Oslo"
 */
export function extractAnswer(
  rule: AnswerRule,
  texts: { prompt: string; messages: readonly string[] },
): string | null {
  const { prompt, messages } = texts;
  const searched = {
    response: messages,
    "last-message": messages.slice(-1),
    "prompt-and-response": [prompt, ...messages],
  }[rule.scope];
  const pattern = new RegExp(rule.pattern, "gs");
  const matches = searched.flatMap((text) => [...text.matchAll(pattern)]);
  if (matches.length < rule.atLeast) return null;
  const match = rule.pick === "first" ? matches[0] : matches.at(-1);
  return match?.[1]?.trim() ?? null;
}

/** A regular expression with a group; with an empty alternative it matches anything, and shows how many groups it has. */
function hasGroup(pattern: string): boolean {
  try {
    return (new RegExp(`${pattern}|`, "s").exec("")?.length ?? 0) > 1;
  } catch {
    return false;
  }
}

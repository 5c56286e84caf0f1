import { z } from "../../base/schema.ts";
import { defineLayout, filledText, parseRecord, publishedAnswer } from "./layout.ts";

const promptSchema = z.object({
  prompt: z.preprocess(questionIn, filledText),
  data_source: z.string().optional(),
  reward_model: z.object({ ground_truth: publishedAnswer }),
});

/** verl's rows of DAPO-Math-17k and DeepScaleR: the question is the prompt, alone or in a known instruction. */
export const mathPrompt = defineLayout({
  holds: "questions",
  name: "math-prompt",
  summary: "prompt: the problem, reward_model.ground_truth",
  example: {
    record: {
      prompt: "Who wrote it?",
      data_source: "math_dapo",
      reward_model: { ground_truth: "34", style: "rule-lighteval/MATH_v2" },
      extra_info: { index: "9a9b6eb4" },
    },
    task: { references: ["34"], source: "math_dapo" },
    unanswered: { reward_model: { ground_truth: "" } },
  },
  wholeAnswers: true,
  fits: (record) =>
    "reward_model" in record &&
    !("question" in record) &&
    typeof questionIn(record["prompt"]) === "string",
  read: (record, where) => {
    const { prompt, data_source, reward_model } = parseRecord(promptSchema, record, where);
    return { question: prompt, references: reward_model.ground_truth, source: data_source };
  },
});

/** Instructions of DAPO, and of verl's script for MATH. */
const INSTRUCTIONS = [
  /^Solve the following math problem step by step\.[^\n]*\n\n(.+)\n\nRemember to put your answer[^\n]*$/s,
  /^(.+?)\s*Let's think step by step and output the final answer within \\boxed\{\}\.$/s,
];

const oneMessage = z.tuple([z.object({ content: z.string() })]);

/** A prompt without its instruction. Messages with another instruction are returned as they are. */
function questionIn(prompt: unknown): unknown {
  const messages = oneMessage.safeParse(prompt);
  const text = messages.success ? messages.data[0].content : prompt;
  if (typeof text !== "string") return prompt;
  const [question] = INSTRUCTIONS.flatMap((each) => each.exec(text.trim())?.[1] ?? []);
  return question?.trim() ?? prompt;
}

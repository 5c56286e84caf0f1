import { z } from "../../base/schema.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import { withPrompts } from "../prompt-session.ts";
import type { RolloutOptions } from "../record.ts";
import { type RolloutVariant, rollOut } from "../roll-out.ts";
import { defineStrategy } from "./strategy.ts";

/** Options of strategies whose prompt shows passages and which ask once. */
export const onceOptions = z.strictObject({
  /** The policy writes its whole message, with thoughts before the answer, as in RARE. Absent: its answer is begun for it. */
  thinks: z.boolean().optional(),
});

/** One message without tools. @param shown what the prompt shows beside the question. */
export function answerOnce(
  rollout: RolloutOptions,
  { thinks = false }: z.output<typeof onceOptions> = {},
  shown: Pick<RolloutVariant, "searchFirst" | "shownFirst"> = {},
): Promise<Trajectory> {
  const { answerOpening } = rollout.environment.protocol;
  const begun = thinks ? {} : { prefill: answerOpening };
  return rollOut(rollout, { maxTurns: 0, ...shown, ...begun });
}

export const direct = defineStrategy({
  name: "direct",
  summary: "No search: the policy answers from the question alone.",
  prompts: "once",
  searches: false,
  needs: ["answers"],
  options: z.strictObject({}),
  run: (rollout) => answerOnce(rollout),
});

export const rag = defineStrategy({
  name: "rag",
  summary: "One search with the question itself; the policy answers from its passages.",
  prompts: "once",
  searches: true,
  needs: ["searching", "context", "answers"],
  options: onceOptions,
  run: (rollout, settings) => answerOnce(rollout, settings, { searchFirst: true }),
});

/** Two messages: thoughts, then a forced answer. If the policy already answers in its thoughts, that answer counts. */
export const cot = defineStrategy({
  name: "cot",
  summary: "Chain of thought: no search; the policy thinks step by step, then answers.",
  source:
    "Wei et al., arXiv 2201.11903; in two messages as in Kojima et al., arXiv 2205.11916, without examples",
  prompts: "own",
  searches: false,
  needs: ["answers"],
  options: z.strictObject({}),
  run: (options) =>
    withPrompts(options, async (session) => {
      const prompt = [
        "Think about the question step by step, from what you know: nothing can be looked up.",
        `Question: ${options.task.question}`,
        "Thoughts:",
      ].join("\n");
      const thoughts = await session.ask(prompt);
      if (thoughts === null) return null;
      const text = thoughts.text.trim();
      return session.answerIn(text) ?? session.answer(`${prompt} ${text}\n`);
    }),
});

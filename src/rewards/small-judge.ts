import { z } from "../base/schema.ts";
import { judgePrompt, ROLE_REPLY, VERDICTS } from "../trajectory/role-prompts.ts";
import { roleName } from "../trajectory/role.ts";
import { saysNothing } from "./judge/judge-prompt.ts";
import { defineReward } from "./reward.ts";

/**
 * The verdict of a small judge on the answer: 1 where it says yes. It reads the accepted answers and the answer in the package's own prompt
 * (`judgePrompt`), which the base `judge` was trained on, so it is not tested on known answers as the reward `judge` is: its errors are
 * what studies of rewards that can be fooled measure. Equal cases are asked once. Tasks without references, and replies that are no
 * verdict, are not scored. An empty answer is 0 without asking.
 *
 * Source: model-based verifiers, arXiv 2505.22203, section 4.
 */
export const smallJudge = defineReward({
  name: "small-judge",
  summary: "The verdict of a small role, such as the base judge, on the answer.",
  range: [0, 1],
  source: "Pitfalls of Rule- and Model-based Verifiers, arXiv 2505.22203",
  options: z.strictObject({
    /** The model that is asked. */
    role: roleName(),
  }),
  async score({ trajectory, task: { references } }, { role }, { roles, cache, signal }) {
    const answer = trajectory.answer ?? "";
    if (references.length === 0) return null;
    if (saysNothing({ prediction: answer, references })) return 0;
    const model = roles.get(role, "rewards (small-judge).role");
    const reply = await cache.get({ references, answer }, () =>
      model.complete(judgePrompt({ references, answer }), {
        maxTokens: MOST_TOKENS,
        stop: [ROLE_REPLY.closing],
        signal,
      }),
    );
    const verdict = reply.trim();
    if (verdict === VERDICTS.right) return 1;
    return verdict === VERDICTS.wrong ? 0 : null;
  },
});

/** A verdict is one word. */
const MOST_TOKENS = 8;

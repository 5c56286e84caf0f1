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
 * @param options.numbers what happens where the answer and a reference are plain numbers: "ask" asks as ever, "compare" compares their
 *   values instead, so that the judge's errors about numbers pay nothing. The paper's hybrid verifier asks no model there either.
 *
 * Source: model-based verifiers, arXiv 2505.22203, section 4, and its released code (verl/workers/reward_manager/genRM.py).
 * Different here: an unreadable verdict is unknown, not 0; `known(…)` in the reward expression makes it 0.
 */
export const smallJudge = defineReward({
  name: "small-judge",
  summary: "The verdict of a small role, such as the base judge, on the answer.",
  range: [0, 1],
  source: "Pitfalls of Rule- and Model-based Verifiers, arXiv 2505.22203",
  options: z.strictObject({
    /** The model that is asked. */
    role: roleName(),
    /** Whether two plain numbers are compared instead. */
    numbers: z.enum(["ask", "compare"]).default("ask"),
  }),
  async score({ trajectory, task: { references } }, { role, numbers }, context) {
    const { roles, cache, signal } = context;
    const answer = trajectory.answer ?? "";
    if (references.length === 0) return null;
    if (saysNothing({ prediction: answer, references })) return 0;
    const plain = references.filter((reference) => PLAIN_NUMBER.test(reference));
    if (numbers === "compare" && plain.length > 0 && PLAIN_NUMBER.test(answer))
      return Number(plain.some((reference) => Number(reference) === Number(answer)));
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

/** Digits, with a sign and a decimal point or without. */
const PLAIN_NUMBER = /^\s*[-+]?\d+(?:\.\d+)?\s*$/;

/** A verdict is one word. */
const MOST_TOKENS = 8;

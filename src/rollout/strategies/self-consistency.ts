import { partSchema } from "../../base/define-part.ts";
import { allSettled } from "../../base/in-order.ts";
import { seedFrom } from "../../base/random.ts";
import type { Registry } from "../../base/registry.ts";
import { z } from "../../base/schema.ts";
import { appendBranch, record } from "../record.ts";
import { voteOn } from "../votes.ts";
import { type Strategy, defineStrategy } from "./strategy.ts";

/** Strategies whose draws are not counted: itself, and programs that decide what they answer. */
const NOT_REPEATED = ["self-consistency", "external"];

/** @param inner all strategies. */
export function selfConsistency(inner: Registry<Strategy>): Strategy {
  const options = z.strictObject({
    /** The repeated strategy. */
    strategy: partSchema(inner)
      .refine(({ name }) => !NOT_REPEATED.includes(name), "expected a strategy that answers once")
      .prefault("agent"),
    draws: z.int().min(2).default(5),
    /** Temperature of all draws. */
    temperature: z.number().positive().default(0.7),
  });
  return defineStrategy({
    name: "self-consistency",
    summary: "Several draws of another strategy; the most frequent answer wins.",
    source: "Wang et al., arXiv 2203.11171, the unweighted vote",
    prompts: "own",
    searches: ({ strategy: { name, ...settings } }) =>
      inner.get(name, "strategy").searches(settings),
    needs: ({ strategy: { name, ...settings } }) => [
      ...new Set(["answers" as const, ...inner.get(name, "strategy").needs(settings)]),
    ],
    readsGold: ({ strategy: { name, ...settings } }) =>
      inner.get(name, "strategy").readsGold(settings),
    options,
    example: { settings: { draws: 3 } },
    run: (rollout, { strategy: { name, ...settings }, draws, temperature }) =>
      record(rollout, async (trajectory) => {
        const drawn = await allSettled(
          Array.from({ length: draws }, (_, draw) =>
            inner
              .get(name, "strategy")
              .run(
                {
                  ...rollout,
                  id: `${rollout.id}/draw-${draw + 1}`,
                  seed: seedFrom(rollout.seed, "draw", draw),
                  sampling: { ...rollout.sampling, temperature },
                },
                settings,
              ),
          ),
        );
        drawn.forEach((each, draw) => {
          appendBranch(trajectory, each, `draw-${draw + 1}`);
        });
        // A vote of the remaining draws would be another method.
        const failed = drawn.find(({ error }) => error !== undefined);
        if (failed?.error !== undefined) {
          trajectory.error = failed.error;
          return failed.end;
        }
        const { answer, confidence } = voteOn(drawn.map((each) => each.answer));
        trajectory.answer = answer;
        if (answer === null) return drawn[0]?.end ?? "no-answer";
        trajectory.confidence = confidence;
        return "answered";
      }),
  });
}

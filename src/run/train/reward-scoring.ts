import type { Retriever } from "../../retrieval/retriever.ts";
import { sharedCache } from "../../rewards/context.ts";
import type { Scoring, Unscored } from "../../rollout/score.ts";
import type { Roles } from "../../trajectory/role.ts";
import { expressionOf } from "../assemble.ts";
import type { TrainingSession } from "./training-method.ts";

/** What a training scores with, beside its rewards, and how it records rewards that could not score. */
export interface RewardScoring {
  scoring: Scoring;
  /** Records each reward for which a model failed, once. @param step from 1. */
  onUnscored(unscored: readonly Unscored[], step: number): Promise<void>;
}

export function rewardScoring(
  { settings, engine, run }: TrainingSession,
  { retriever, roles }: { retriever: Retriever; roles: Roles },
): RewardScoring {
  const recorded = new Set<string>();
  return {
    scoring: {
      expression: expressionOf(settings),
      roles,
      retriever,
      cache: sharedCache(),
      tokenizer: engine.tokenizer,
    },
    async onUnscored(unscored, step) {
      for (const { reward, trajectories, code, message } of unscored) {
        if (recorded.has(reward)) continue;
        recorded.add(reward);
        await run.event({
          kind: "unscored",
          step: step - 1,
          message: `reward "${reward}" could not score ${trajectories} trajectories of step ${step}: ${message}`,
          facts: { reward, trajectories, code },
        });
      }
    },
  };
}

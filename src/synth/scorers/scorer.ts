import { type PartWithOptions, definer } from "../../base/define-part.ts";
import { requireReturned } from "../../base/registry.ts";
import type { Environment } from "../../env/environments/environment.ts";
import type { Policy } from "../../rollout/policy.ts";
import { type ScoringPolicy, requireLogprobs } from "../../rollout/prompt-session.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";

/** What scorers may use. */
export type ScorerResources = { policy: Policy; environment: Environment; seed: number };

/** Computes scores of a drawn trajectory that need the teacher's model or a search. The sample records them by name. */
export interface SampleScorer extends PartWithOptions {
  readonly source: string;
  readonly gives: readonly string[];
  /** @throws {ConfigError} STRATEGY_NEEDS_LOGPROBS if the teacher gives no log-probabilities. */
  open(options: object, resources: ScorerResources): OpenedScorer;
}

export interface OpenedScorer {
  /** Scores that cannot be computed (full context, failed trajectory) are absent. */
  score(task: Task, trajectory: Trajectory, signal: AbortSignal): Promise<Record<string, number>>;
}

/** Makes a scorer. @throws {ConfigError} PLUGIN_BAD_PART without open or gives. */
export const defineScorer = definer<SampleScorer>()("sample scorer", {
  defaults: { source: "" },
  members: { gives: "list" },
  functions: {
    open: {
      at: 0,
      returned(opened: OpenedScorer, { what }) {
        requireReturned(what, opened, { score: "function" });
        return opened;
      },
    },
  },
});

/** The teacher, if it can score texts. @throws {ConfigError} STRATEGY_NEEDS_LOGPROBS */
export function scoringTeacher(policy: Policy, scorer: string): ScoringPolicy {
  const instead = `Set synth.teacher to { name: model }, or remove ${scorer}.`;
  return requireLogprobs(policy, instead, `synth.scores (${scorer})`);
}

/** Log-probability (nats) of a text after a prompt: the sum over its tokens, and their number. */
export type TextLikelihood = { sum: number; tokens: number };

/** Likelihood of a text after a prompt; null when they do not fit the context, or the text has no token. */
export async function likelihoodOf(
  policy: ScoringPolicy,
  promptIds: readonly number[],
  text: string,
): Promise<TextLikelihood | null> {
  const ids = policy.tokenizer.encode(text);
  if (ids.length === 0 || promptIds.length + ids.length > policy.maxPositions) return null;
  const logprobs = await policy.logprobs(promptIds, ids);
  return { sum: logprobs.reduce((sum, each) => sum + each, 0), tokens: ids.length };
}

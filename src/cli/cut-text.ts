import { ScoreError } from "../base/errors.ts";
import { formatPercent } from "../base/format.ts";
import { budgetOf, largestBudgets, observationTokens } from "../env/budget.ts";
import type { EvaluationSummary } from "../evaluate/evaluation-summary.ts";
import type { Settings } from "../run/settings/settings-schema.ts";

/** Share of questions from which on a cut is worth a warning. */
const TOLERATED = 0.02;

type Measured = Pick<EvaluationSummary, "metrics">;

interface Cut {
  what: string;
  share: number;
  cure: string;
}

/** Warnings about cuts in at least 2 % of the questions, each with what helps. */
export function cutWarnings(summary: Measured, settings: Settings): string[] {
  return cutsOf(summary, settings)
    .filter(({ share }) => share >= TOLERATED)
    .map(
      ({ what, share, cure }) =>
        `${what} were cut in ${formatPercent(share)} of the questions: ${cure}`,
    );
}

/**
 * Refuses a server's result that only measures limits: all questions were cut, and none has an answer. A policy on this machine that never
 * answers within its budgets, such as an untrained one, is measured rightly and only gets the warnings.
 * @throws {ScoreError} EVALUATION_ALL_CUT
 */
export function requireUncut(summary: Measured, settings: Settings): void {
  if (settings.policy.endpoint === undefined || summary.metrics.answer_rate > 0) return;
  const whole = cutsOf(summary, settings).find(({ share }) => share === 1);
  if (whole === undefined) return;
  throw new ScoreError(
    "EVALUATION_ALL_CUT",
    `${whole.what} were cut in every question, and no question has an answer, so the scores say nothing about the policy. ${whole.cure}`,
  );
}

function cutsOf({ metrics }: Measured, settings?: Settings): Cut[] {
  const limits = largestBudgets(settings?.evaluation.budgets ?? settings?.budgets ?? []);
  const limit = (scope: "turn" | "observation" | "context", of = ""): string => {
    const found =
      scope === "observation" ? observationTokens(limits) : budgetOf(limits, scope)?.limit;
    return found === undefined ? "" : ` (${found} tokens${of})`;
  };
  const budgets = "--tier paper has larger budgets, and --set budgets=… sets them";
  const isServer = settings?.policy.endpoint !== undefined;
  const cures = {
    messages: isServer
      ? `Raise --max-tokens${limit("turn", " by the recipe")}; reasoning models need thousands.`
      : `Raise the budget of a turn${limit("turn")}: ${budgets}.`,
    observations: `Raise the budget of an observation${limit("observation")}, or show fewer passages: ${budgets}.`,
    contexts: `Raise the budget of the context${limit("context")}: ${budgets}. The model or its server must hold as many tokens.`,
  };
  const shares = {
    messages: metrics.cut_message_rate,
    observations: metrics.cut_observation_rate,
    contexts: metrics.cut_context_rate,
  };
  return (["messages", "observations", "contexts"] as const).flatMap((what) => {
    const share = shares[what];
    return share === undefined ? [] : [{ what, share, cure: cures[what] }];
  });
}

import { shorten } from "../base/format.ts";
import type { OnPolicyOptions } from "../algorithms/algorithm.ts";
import { comparisons } from "../run/claims.ts";
import type { Claim } from "../run/settings/recipe-schema.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import { stageList } from "../run/settings/stages.ts";
import type { ClaimResult, Inequality } from "./claims/claim-results.ts";

/**
 * What decides a claim: the method, or the construction of the experiment. A number, the policy before training and an untrained arm
 * beside a trained one are constructions; arms that are all untrained compare ways to answer.
 * @param settingsOf of an arm.
 */
export function kindOf(claim: Claim, settingsOf: (arm: string) => Settings): ClaimResult["kind"] {
  if (claim.kind !== undefined) return claim.kind;
  const sides = comparisons(claim).flatMap(({ left, right }) => [left, right]);
  const asksStart = sides.some(({ metric }) => /(^|\.)before\./.test(metric ?? claim.metric));
  if (asksStart || sides.some(({ arm }) => arm === null)) return "construction";
  const trained = claim.arms.filter(({ name }) => isTrained(settingsOf(name)));
  const isMixed = trained.length > 0 && trained.length < claim.arms.length;
  return isMixed ? "construction" : "method";
}

function learnsFromRollouts({ stages, algorithm }: Settings): boolean {
  if (stages !== undefined) return stageList(stages).some((stage) => stage.do === "train");
  return ((algorithm as OnPolicyOptions | undefined)?.steps ?? 0) > 0;
}

/** Whether a run with these settings changes its policy. */
function isTrained(settings: Settings): boolean {
  const others = stageList(settings.stages ?? []).some(({ do: name }) =>
    ["sft", "preference"].includes(name),
  );
  return others || learnsFromRollouts(settings);
}

/**
 * What the arms of a claim do not have in common beside the method: the policy that they start from, the questions that they learn from,
 * rollouts, and budgets. Nothing where all are equal.
 */
export function inequalities(claim: Claim, settingsOf: (arm: string) => Settings): Inequality[] {
  const arms = claim.arms.map(({ name }) => ({ name, facts: factsOf(settingsOf(name)) }));
  const names = new Set(arms.flatMap(({ facts }) => Object.keys(facts)));
  return [...names].flatMap((what): Inequality[] => {
    // Arms that do not learn from rollouts have no number of them.
    const values = arms.flatMap(({ name, facts }) =>
      facts[what] === undefined ? [] : [[name, facts[what]] as const],
    );
    const isEqual = new Set(values.map(([, value]) => value)).size === 1;
    return isEqual ? [] : [{ what, arms: Object.fromEntries(values) }];
  });
}

function factsOf(settings: Settings): Record<string, string> {
  const { policy, budgets, evaluation } = settings;
  const shared = {
    "base policy": policy.from,
    budgets: shorten(JSON.stringify(budgets), 200),
    "budgets of the evaluation": shorten(JSON.stringify(evaluation.budgets ?? budgets), 200),
  };
  if (!learnsFromRollouts(settings)) return shared;
  const {
    promptsPerStep = 0,
    steps = 0,
    groupSize = 0,
  } = (settings.algorithm ?? {}) as Partial<OnPolicyOptions>;
  return {
    ...shared,
    "questions learned from": String(promptsPerStep * steps),
    rollouts: String(promptsPerStep * steps * groupSize),
  };
}

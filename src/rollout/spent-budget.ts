import { type BudgetNow, isRunCall } from "../env/budget.ts";
import { type Observation, type Trajectory, withInnerCalls } from "../trajectory/trajectory.ts";
import { firstTokens, type Policy } from "./policy.ts";

type SpentBudget = Pick<BudgetNow, "unit"> & {
  onExhausted: "final-turn" | "forced-answer" | "end";
};

/** The strictest of several used-up budgets counts. */
const STRICTNESS = ["end", "forced-answer", "final-turn"] as const;

/** The used-up budget before a message; null if none is. @param at.maxTurns turns in which tools run; a final turn follows them. */
export function spentBudget(
  budgets: readonly BudgetNow[],
  trajectory: Trajectory,
  at: { turn: number; maxTurns: number | undefined },
): SpentBudget | null {
  const own: BudgetNow[] =
    at.maxTurns === undefined
      ? []
      : [{ scope: "trajectory", unit: "turns", limit: at.maxTurns, onExhausted: "final-turn" }];
  const others = budgets.filter(({ unit }) => at.maxTurns === undefined || unit !== "turns");
  const spent = [...own, ...others].filter(
    (budget) => usedOf(budget, trajectory, at.turn) >= budget.limit,
  );
  for (const onExhausted of STRICTNESS) {
    const found = spent.find((each) => each.onExhausted === onExhausted);
    if (found !== undefined) return { unit: found.unit, onExhausted };
  }
  return null;
}

function usedOf({ scope, unit, tool }: BudgetNow, trajectory: Trajectory, turn: number): number {
  const main = trajectory.turns.filter(({ chain }) => chain === undefined);
  const observations = main.flatMap((each) => each.observations);
  if (scope === "trajectory")
    return unit === "turns"
      ? turn
      : observations.flatMap(withInnerCalls).filter((each) => isRunCall(each, tool ?? null)).length;
  if (scope !== "response") return 0;
  if (unit === "tokens") return responseTokens(trajectory, new Set(main.map(({ call }) => call)));
  const texts = [...main, ...observations].map(({ text }) => text);
  return texts.reduce(
    (sum, text) =>
      sum + (unit === "words" ? text.split(/\s+/).filter(Boolean).length : text.length),
    0,
  );
}

/** Tokens of messages and replies; the first prompt does not count. For a server its own counts are used. */
function responseTokens({ calls }: Trajectory, main: ReadonlySet<number>): number {
  let count = 0;
  for (const [i, { prompt, completion, usage }] of calls.entries()) {
    if (!main.has(i)) continue;
    const shown = prompt.filter(({ owner }) => owner === "environment");
    for (const { ids } of [...shown, ...completion]) count += ids.length;
    count += usage?.completionTokens ?? 0;
  }
  return count;
}

/** Observations cut to their budgets, the same list if nothing is; the token budget for all tools is applied when the reply is encoded. */
export function shortened(
  observations: readonly Observation[],
  budgets: readonly BudgetNow[],
  policy: Policy,
): readonly Observation[] {
  const own = budgets.filter(
    ({ scope, unit, tool }) => scope === "observation" && (unit !== "tokens" || tool !== undefined),
  );
  if (own.length === 0) return observations;
  return observations.map((observation) => {
    const { tool } = observation;
    const text = own
      .filter((each) => each.tool === undefined || each.tool === tool)
      .reduce((left, { unit, limit, ending = "" }) => {
        const kept = beginningIn(unit, left, limit, policy);
        return kept.length < left.length ? `${kept}${ending}` : left;
      }, observation.text);
    return text === observation.text ? observation : { ...observation, text };
  });
}

function beginningIn(unit: BudgetNow["unit"], text: string, limit: number, policy: Policy): string {
  if (unit === "tokens") return firstTokens(policy, text, limit);
  if (unit === "characters") return text.slice(0, limit);
  return new RegExp(`^\\s*(?:\\S+\\s*){0,${limit}}`).exec(text)?.[0] ?? "";
}

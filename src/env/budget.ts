import { type Scheduled, scheduled, valueAt } from "../base/schedule.ts";
import { quote, z } from "../base/schema.ts";
import type { TrainingProgress } from "../retrieval/retriever.ts";
import type { Observation } from "../trajectory/trajectory.ts";

const UNITS = ["tokens", "characters", "words", "calls", "turns"] as const;
const SCOPES = ["trajectory", "turn", "observation", "context", "response"] as const;
const ON_EXHAUSTED = [
  ...(["final-turn", "end", "cut", "drop-oldest", "drop-middle", "notice"] as const),
  ...(["forced-answer"] as const),
] as const;

type Unit = (typeof UNITS)[number];
type Scope = (typeof SCOPES)[number];
type OnExhausted = (typeof ON_EXHAUSTED)[number];

const ALLOWED: readonly { scope: Scope; units: readonly Unit[]; on: readonly OnExhausted[] }[] = [
  { scope: "trajectory", units: ["turns"], on: ["final-turn", "end", "forced-answer"] },
  { scope: "trajectory", units: ["calls"], on: ["notice", "final-turn", "end", "forced-answer"] },
  {
    scope: "response",
    units: ["tokens", "characters", "words"],
    on: ["final-turn", "end", "forced-answer"],
  },
  { scope: "turn", units: ["tokens"], on: ["cut"] },
  { scope: "observation", units: ["tokens", "characters", "words"], on: ["cut"] },
  { scope: "context", units: ["tokens"], on: ["end", "drop-oldest", "drop-middle"] },
];

/**
 * A limit on what a trajectory may use, and what happens when it is used up.
 * Scopes: `trajectory` counts turns, or calls of tools; `response` all after the prompt; `turn` a message; `observation` a result; `context` all.
 * Then: `final-turn` allows one more message without tools; `forced-answer` the same with a prefilled answer; `end`; `notice` answers
 * further calls with a note; `cut` drops what is too long; `drop-oldest` shows the newest tokens only; `drop-middle` shows the first prompt and
 * the newest tokens.
 */
const budgetSchema = z
  .strictObject({
    /** What is limited: the whole trajectory, one message, one reply of the environment, the context. */
    scope: z.enum(SCOPES),
    /** What is counted. */
    unit: z.enum(UNITS),
    /** A tool's name, where only its calls or observations count. */
    tool: z.string().meta({ names: "tool" }).optional(),
    limit: scheduled(z.int().min(1)),
    /** What happens at the limit. */
    onExhausted: z.enum(ON_EXHAUSTED),
    /** Put behind an observation that was cut, beyond its limit. Agent-R1: `...` */
    ending: z.string().min(1).optional(),
  })
  .superRefine((budget, context) => {
    const problem = problemOf(budget);
    if (problem !== null) context.addIssue({ code: "custom", message: problem });
  });

export type Budget = z.output<typeof budgetSchema>;

/** A budget at one step of a run. */
export type BudgetNow = Omit<Budget, "limit"> & { limit: number };

/** The `budgets` of a recipe. */
export const budgetsSchema = z.array(budgetSchema).superRefine((budgets, context) => {
  const place = ({ scope, unit, tool }: Budget): string =>
    [scope, unit, ...(tool === undefined ? [] : [`tool ${tool}`])].join(", ");
  const places = budgets.map(place);
  const twice = places.find((each, i) => places.indexOf(each) < i);
  if (twice === undefined) return;
  context.addIssue({ code: "custom", message: `expected at most one budget for ${twice}` });
});

function problemOf({ scope, unit, onExhausted, tool, limit, ending }: Budget): string | null {
  const ofScope = ALLOWED.filter((each) => each.scope === scope);
  if (!ofScope.some(({ units, on }) => units.includes(unit) && on.includes(onExhausted))) {
    const lines = ALLOWED.map(
      (each) => `${each.scope}: ${each.units.join(", ")} (${each.on.join(", ")})`,
    );
    return `${scope} cannot have unit ${unit} with onExhausted ${onExhausted}. Allowed: ${lines.join("; ")}`;
  }
  if (tool !== undefined && unit !== "calls" && scope !== "observation")
    return `tool is ${quote(tool)}: only calls and observations are counted by tool`;
  if (ending !== undefined && (scope !== "observation" || unit === "tokens"))
    return `ending is ${quote(ending)}: only observations that are cut by characters or words have one`;
  if (scope === "context" && typeof limit === "number" && limit < 2)
    return "limit: expected at least 2 for a context";
  return null;
}

/** Budgets at a step of a run; outside training (no `progress`) schedules are at their end. */
export function budgetsAt(
  budgets: readonly Budget[],
  progress: TrainingProgress | undefined,
): readonly BudgetNow[] {
  const { step, totalSteps } = progress ?? AT_THE_END;
  return budgets.map((each) => ({
    ...each,
    limit: Math.max(1, Math.round(valueAt(each.limit, step, totalSteps))),
  }));
}

const AT_THE_END: TrainingProgress = { step: 1e9, totalSteps: 1e9 + 1 };

/** Budgets with the largest limit that a run will have: for plans. */
export function largestBudgets(budgets: readonly Budget[]): readonly BudgetNow[] {
  return budgets.map((each) => ({ ...each, limit: largest(each.limit) }));
}

function largest(limit: Scheduled): number {
  if (typeof limit === "number") return limit;
  if (limit.schedule === "constant") return limit.value;
  if (limit.schedule === "steps") return Math.max(...limit.values.map(({ value }) => value));
  return Math.max(limit.from, limit.to);
}

/** The budget of a scope and unit for any tool; null when there is none. @param unit tokens, or turns of a trajectory, where absent. */
export function budgetOf(
  budgets: readonly BudgetNow[],
  scope: Scope,
  unit: Unit = scope === "trajectory" ? "turns" : "tokens",
): BudgetNow | null {
  return (
    budgets.find((each) => each.scope === scope && each.unit === unit && each.tool === undefined) ??
    null
  );
}

/** Most tokens of an observation that the policy reads: by the budget for all tools (tags included), else the largest single tool's. */
export function observationTokens(budgets: readonly BudgetNow[]): number | undefined {
  const own = budgets.filter(({ scope, unit }) => scope === "observation" && unit === "tokens");
  if (own.length === 0) return undefined;
  return budgetOf(own, "observation")?.limit ?? Math.max(...own.map(({ limit }) => limit));
}

/** Codes of observations for calls that were not run. */
const NOT_RUN = new Set([
  ...["bad-call", "unknown-tool", "bad-arguments", "no-calls-left", "call-in-circle"],
]);

/** Whether an observation came of a call that was run, so that budgets of calls count it. @param tool null: any tool's. */
export function isRunCall({ tool: of, problem }: Observation, tool: string | null): boolean {
  return (tool === null || tool === of) && !NOT_RUN.has(problem?.code ?? "");
}

import { z } from "../base/schema.ts";

/**
 * A limit on what a trajectory may use, and what happens at it.
 * - turns of a trajectory: `final-turn` allows one more message in which tools are not run; `end` allows none.
 * - tokens of a turn: `cut` stops the message there.
 * - tokens of an observation: `cut` drops the rest on the right.
 * - tokens of the context: `end` ends the trajectory; `drop-oldest` shows the policy the newest tokens only.
 */
export const budgetSchema = z.discriminatedUnion("scope", [
  z.strictObject({
    scope: z.literal("trajectory"),
    unit: z.literal("turns"),
    limit: z.int().min(1),
    onExhausted: z.enum(["final-turn", "end"]),
  }),
  z.strictObject({
    scope: z.literal("turn"),
    unit: z.literal("tokens"),
    limit: z.int().min(1),
    onExhausted: z.literal("cut"),
  }),
  z.strictObject({
    scope: z.literal("observation"),
    unit: z.literal("tokens"),
    limit: z.int().min(1),
    onExhausted: z.literal("cut"),
  }),
  z.strictObject({
    scope: z.literal("context"),
    unit: z.literal("tokens"),
    limit: z.int().min(2),
    onExhausted: z.enum(["end", "drop-oldest"]),
  }),
]);

export type Budget = z.output<typeof budgetSchema>;

/** The budget of a scope; null when there is none. */
export function budgetOf<S extends Budget["scope"]>(
  budgets: readonly Budget[],
  scope: S,
): Extract<Budget, { scope: S }> | null {
  return (
    (budgets.find((each) => each.scope === scope) as Extract<Budget, { scope: S }> | undefined) ??
    null
  );
}

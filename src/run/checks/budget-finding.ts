/** Something about a recipe's budgets that does not go together. */
export interface BudgetFinding {
  /** error: nothing could be learned, so training does not begin; notice: only at the very end of what is allowed. */
  severity: "error" | "warning" | "notice";
  /** The setting to look at first. */
  key: string;
  /** Where it was set. */
  origin: string;
  /** What does not go together, with its numbers, and what to change. */
  message: string;
}

import { AgentrlError } from "../../base/errors.ts";
import { withParts } from "../../base/registry.ts";
import { loadTokenizer } from "../../text/tokenizer.ts";
import { baseFolder, openNamedDataset } from "../assemble.ts";
import { recordOf } from "../settings/resolved-yaml.ts";
import type { PlannedRun } from "../plan/plan.ts";
import { budgetFacts, type BudgetFacts } from "./budget-facts.ts";
import type { BudgetFinding } from "./budget-finding.ts";
import { checkBudgets } from "./check-budgets.ts";
import { type IgnoredSetting, ignoredSettings } from "./ignored-settings.ts";

/** What is to be said of a plan before it is run. */
export interface PlanChecks {
  budgets: BudgetFinding[];
  ignored: IgnoredSetting[];
  /** Why budgets were not compared with questions and passages; null where they were. */
  withoutFacts: string | null;
}

/**
 * Checks a planned training as `agentrl train` does before it begins. A dataset that is not here, or a policy without a tokenizer here,
 * leaves what needs them out. What a chat template adds to prompts is not counted.
 */
export async function checkPlan({ resolved, work, model }: PlannedRun): Promise<PlanChecks> {
  if (work.stage === "sft") return { budgets: [], ignored: [], withoutFacts: null };
  const ignored = ignoredSettings(resolved);
  const of = async (
    facts: BudgetFacts | null,
    withoutFacts: string | null,
  ): Promise<PlanChecks> => {
    return {
      budgets: await withParts(() => checkBudgets(resolved.settings, recordOf(resolved), facts)),
      ignored,
      withoutFacts,
    };
  };
  if (model.folder === null) return of(null, `the tokenizer of ${model.from} is not here`);
  const dataset = await openNamedDataset(
    resolved.settings.dataset,
    resolved.settings.environment,
  ).catch((error: unknown) => {
    if (error instanceof AgentrlError) return error;
    throw error;
  });
  if (dataset instanceof AgentrlError) return of(null, dataset.message);
  const tokenizer = await loadTokenizer((await baseFolder(model.folder)) ?? model.folder);
  const { maxPositions } = model.config;
  return of(await budgetFacts(resolved.settings, dataset, { tokenizer, maxPositions }), null);
}

import { ConfigError } from "../base/errors.ts";
import type { Budget } from "../env/budget.ts";
import { environments } from "../env/environments/index.ts";
import {
  checkRewards,
  goldRetriever,
  type RewardCheck,
} from "../evaluate/reward-check/check-rewards.ts";
import { canAnswer } from "../evaluate/reward-check/scripts.ts";
import type { WeightedReward } from "../rollout/score.ts";
import type { Task } from "../trajectory/task.ts";
import type { Dataset } from "../data/datasets.ts";
import { weightedRewards } from "./assemble.ts";
import type { ResolvedSettings } from "./settings/settings.ts";
import type { Settings } from "./settings/settings-schema.ts";

/** Questions of a check: enough for several kinds, few enough to be done within a second. */
export const CHECKED_QUESTIONS = 8;

/** Turns where the recipe sets no limit: a script that never answers would go on for ever. */
const TURNS: Budget = { scope: "trajectory", unit: "turns", limit: 4, onExhausted: "final-turn" };

/** Longer than any script: what a budget of tokens cuts is no reward's doing. */
const TURN_TOKENS: Budget = { scope: "turn", unit: "tokens", limit: 1_000_000, onExhausted: "cut" };

/**
 * Holds the rewards of a recipe to what they declare, in its own environment and protocol, on its first questions. Searches show the
 * accepted answers; limits in tokens are lifted.
 *
 * @param rewards the recipe's own when absent.
 * @throws {ConfigError} REWARD_CHECK_FAILED when answers cannot be written in the recipe's protocol.
 */
export async function checkRecipeRewards(
  settings: Settings,
  tasks: readonly Task[],
  { signal, rewards }: { signal: AbortSignal; rewards?: readonly WeightedReward[] },
): Promise<RewardCheck> {
  const { name, ...options } = settings.environment;
  const turns = settings.budgets.filter(({ unit }) => unit === "turns");
  const budgets = [...(turns.length > 0 ? turns : [TURNS]), TURN_TOKENS];
  const environment = environments
    .get(name, "environment")
    .create(options, { retriever: goldRetriever(), budgets });
  if (!canAnswer(environment.protocol)) {
    throw new ConfigError(
      "REWARD_CHECK_FAILED",
      `environment.protocol: an answer written after ${JSON.stringify(environment.protocol.answerOpening)} is not found by its answer rule, /${environment.protocol.answer.pattern}/, so no reward could be earned. Mend answer.pattern.`,
    );
  }
  return checkRewards({
    ...{ environment, signal, rewards: rewards ?? weightedRewards(settings) },
    tasks: tasks.slice(0, CHECKED_QUESTIONS),
  });
}

/** What a run's manifest keeps of the check before it. */
export type RewardCheckFacts = Pick<
  RewardCheck,
  "ok" | "questions" | "trajectories" | "withoutAnswering"
>;

/**
 * The check before a training: null where the recipe does without (`rewardCheck: false`).
 * @throws {ConfigError} REWARD_CHECK_FAILED before anything is trained.
 */
export async function checkBeforeTraining(
  { recipe, settings }: ResolvedSettings<Settings>,
  dataset: Dataset,
  signal: AbortSignal,
): Promise<RewardCheckFacts | null> {
  if (!settings.rewardCheck) return null;
  const tasks = await dataset.tasks(CHECKED_QUESTIONS);
  const check = await checkRecipeRewards(settings, tasks, { signal });
  requireSoundRewards(check, recipe.path);
  const { ok, questions, trajectories, withoutAnswering } = check;
  return { ok, questions, trajectories, withoutAnswering };
}

/**
 * @param where the recipe, for the message.
 * @throws {ConfigError} REWARD_CHECK_FAILED with the first reward and case that went wrong, and how many did.
 */
export function requireSoundRewards(check: RewardCheck, where: string): void {
  const wrong = check.rewards.flatMap(({ name, cases }) =>
    cases.flatMap(({ failed, ...rest }) => (failed === null ? [] : [{ name, failed, ...rest }])),
  );
  const [first] = wrong;
  if (first === undefined) return;
  const { name, expected, failed } = first;
  const got = failed.value === null ? "no score" : String(failed.value);
  const more = wrong.length > 1 ? ` ${wrong.length - 1} more cases are wrong.` : "";
  throw new ConfigError(
    "REWARD_CHECK_FAILED",
    `${where}: reward "${name}", case ${first.case}, question ${JSON.stringify(failed.question)}: ${got} for the extracted answer ${JSON.stringify(failed.answer)}; expected ${expected}.${more} \`agentrl reward check\` lists all cases; mend the reward, its protocol or the question, or train as it is by --set rewardCheck=false.`,
  );
}

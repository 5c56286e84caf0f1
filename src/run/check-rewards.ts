import { ConfigError } from "../base/errors.ts";
import type { Dataset } from "../data/dataset.ts";
import type { Budget } from "../env/budget.ts";
import { allNamed } from "../env/tools/index.ts";
import {
  type RewardCheck,
  checkRewards,
  goldRetriever,
  notCheckable,
} from "../evaluate/reward-check/check-rewards.ts";
import { canAnswer } from "../evaluate/reward-check/scripts.ts";
import { REWARD_CASES } from "../rewards/expectations.ts";
import type { WeightedReward } from "../rollout/score.ts";
import type { Task } from "../trajectory/task.ts";
import { environments } from "../worlds/datasets.ts";
import { expressionOf, weightedRewards } from "./assemble.ts";
import { openRoles } from "./roles.ts";
import type { RunRecord } from "./settings/resolved-yaml.ts";
import type { Settings } from "./settings/settings-schema.ts";

/** Questions of a check: enough for several kinds, few enough for a second. */
export const CHECKED_QUESTIONS = 8;

/** Ends scripts that never answer. The recipe's own limit may be too low for a search and an answer. */
const TURNS: Budget = { scope: "trajectory", unit: "turns", limit: 4, onExhausted: "final-turn" };

/** Longer than any script, so that no budget of tokens cuts one. */
const TURN_TOKENS: Budget = { scope: "turn", unit: "tokens", limit: 1_000_000, onExhausted: "cut" };

/**
 * Checks the rewards of a recipe in its own environment and protocol, on its first questions. Searches show the accepted answers;
 * the recipe's budgets do not apply.
 *
 * @param options.rewards checked alone, instead of the recipe's own and what they pay together.
 * @throws {ConfigError} REWARD_CHECK_FAILED when answers cannot be written in the recipe's protocol.
 */
export async function checkRecipeRewards(
  settings: Settings,
  tasks: readonly Task[],
  { signal, rewards }: { signal: AbortSignal; rewards?: readonly WeightedReward[] },
): Promise<RewardCheck> {
  const questions = tasks.filter(({ references }) => references.length > 0);
  if (questions.length === 0) return notCheckable("the tasks have no accepted answers");
  const { name, ...options } = settings.environment;
  const roles = openRoles(settings);
  const budgets = [TURNS, TURN_TOKENS];
  const retriever = goldRetriever();
  const retrievers = allNamed(Object.keys(settings.retrievers ?? {}), retriever);
  const environment = environments
    .get(name, "environment")
    .create(options, { retriever, retrievers, budgets, roles });
  if (!environment.answers) return notCheckable(`${name} has no answers`);
  if (!canAnswer(environment)) {
    const { answerOpening, answer } = environment.protocol;
    throw new ConfigError(
      "REWARD_CHECK_FAILED",
      `environment.protocol: its answer rule, /${answer.pattern}/, does not find an answer written after ${JSON.stringify(answerOpening)}, so no answer could earn a reward. Correct answer.pattern.`,
    );
  }
  try {
    const expression = rewards === undefined ? expressionOf(settings) : undefined;
    return await checkRewards({
      environment,
      signal,
      tasks: questions.slice(0, CHECKED_QUESTIONS),
      rewards: rewards ?? weightedRewards(settings),
      judgesSum: rewards === undefined,
      scoring: { expression, roles },
    });
  } finally {
    await roles.close();
  }
}

/** What a run's manifest keeps of the check before it. */
export type RewardCheckFacts = Pick<
  RewardCheck,
  "ok" | "questions" | "trajectories" | "withoutAnswering" | "notApplicable"
>;

/**
 * The check before a training: null where the recipe does without (`rewardCheck: false`).
 * @throws {ConfigError} REWARD_CHECK_FAILED before anything is trained.
 */
export async function checkBeforeTraining(
  { record, settings }: { record: RunRecord; settings: Settings },
  dataset: Dataset,
  signal: AbortSignal,
): Promise<RewardCheckFacts | null> {
  if (!settings.rewardCheck) return null;
  const tasks = await dataset.tasks(CHECKED_QUESTIONS);
  const check = await checkRecipeRewards(settings, tasks, { signal });
  requireSoundRewards(check, record.path);
  const { ok, questions, trajectories, withoutAnswering, notApplicable } = check;
  const facts = { ok, questions, trajectories, withoutAnswering };
  return notApplicable === undefined ? facts : { ...facts, notApplicable };
}

/**
 * @param where the recipe, for the message.
 * @throws {ConfigError} REWARD_CHECK_FAILED with the first reward and case that went wrong, and how many did; or with what the combined
 *   reward pays.
 */
export function requireSoundRewards(check: RewardCheck, where: string): void {
  const wrong = check.rewards.flatMap(({ name, cases }) =>
    cases.flatMap(({ failed, ...rest }) => (failed === null ? [] : [{ name, failed, ...rest }])),
  );
  const [first] = wrong;
  if (first !== undefined) {
    const { name, expected, failed } = first;
    const got = failed.value === null ? "no score" : String(failed.value);
    const more = wrong.length > 1 ? ` ${wrong.length - 1} more cases are wrong.` : "";
    throw new ConfigError(
      "REWARD_CHECK_FAILED",
      `${where}: reward "${name}", case ${first.case}, question ${JSON.stringify(failed.question)}: ${got} for the extracted answer ${JSON.stringify(failed.answer)}; expected ${String(expected)}.${more} \`agentrl reward check\` lists all cases. Correct the reward, its protocol or the question, or train without the check: --set rewardCheck=false.`,
    );
  }
  if (check.combined === null || check.combined.ok) return;
  const { golden, most } = check.combined;
  throw new ConfigError(
    "REWARD_CHECK_FAILED",
    `${where}: the combined reward is ${round(most.value)} in case ${most.case} (${REWARD_CASES[most.case].summary}), and ${round(golden)} for an accepted answer: it pays more for not answering. Change the weights or the reward expression, or train without the check: --set rewardCheck=false.`,
  );
}

/** @example round(0.66667) // 0.6667 */
function round(value: number): number {
  return Number(value.toFixed(4));
}

import { seedFrom } from "../base/random.ts";
import type { Environment } from "../env/environments/environment.ts";
import { rewards } from "../rewards/index.ts";
import { sharedCache } from "../rewards/context.ts";
import type { Policy } from "../rollout/policy.ts";
import { scoreTrajectories, type Unscored, weightsAt } from "../rollout/score.ts";
import { openStrategy } from "../rollout/strategies/named-strategy.ts";
import type { Task } from "../trajectory/task.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import {
  environmentOver,
  expressionOf,
  openNamedDataset,
  type Purpose,
  retrieverOver,
  weightedRewards,
} from "./assemble.ts";
import { openRoles } from "./roles.ts";
import { onPolicyOptions } from "./train/on-policy-run.ts";
import type { Settings } from "./settings/settings-schema.ts";

/** One episode that a policy plays. */
interface EpisodeRequest {
  policy: Policy;
  task: Task;
  /** Seeds the environment's draws. */
  seed: number;
  /** Of the trajectory. */
  id: string;
  signal: AbortSignal;
  /** Training steps that were done before it, from 0, where it is one of a training. */
  step?: number | undefined;
  /** Called after each turn with the record so far. */
  onTurn?: (trajectory: Trajectory) => void;
}

/** An episode that has ended, with the rewards that no model could give. */
export interface Played {
  trajectory: Trajectory;
  unscored: readonly Unscored[];
}

/** The episodes of a recipe, as its training or evaluation rolls them out, scored as in training, for policies from outside. */
export interface Episodes {
  readonly settings: Settings;
  readonly environment: Environment;
  /** Of its training, at least 1: what schedules end at. */
  readonly totalSteps: number;
  /** The questions, in the dataset's order. */
  readonly tasks: readonly Task[];
  /** What a step's own reward (`StepResult.reward`) adds to the episode's; 0 where the recipe does not add it up. */
  readonly stepWeight: number;
  /** Rewards that compare trajectories of a group or batch: here each episode is alone. */
  readonly comparing: readonly string[];
  /**
   * A whole episode: the recipe's strategy in its environment, then its rewards.
   * @throws the signal's reason when it aborts.
   */
  play(request: EpisodeRequest): Promise<Played>;
  close(): Promise<void>;
}

/**
 * Opens a recipe's training or evaluation without a policy of its own.
 * @throws {ConfigError} as the recipe's dataset, retriever and environment.
 */
export async function openEpisodes(
  settings: Settings,
  purpose: Purpose = "training",
): Promise<Episodes> {
  const { dataset: named, strategy: asked } =
    purpose === "evaluation" ? settings.evaluation : settings;
  const dataset = await openNamedDataset(named, settings.environment);
  const retriever = await retrieverOver(dataset, settings, purpose);
  const roles = openRoles(settings);
  const close = async (): Promise<void> => {
    await roles.close();
    await retriever.close();
  };
  try {
    const environment = environmentOver(retriever, settings, purpose, roles);
    const strategy = openStrategy(asked, "strategy");
    const weighted = weightedRewards(settings);
    const expression = expressionOf(settings);
    const cache = sharedCache();
    const { algorithm } = settings;
    const totalSteps = Math.max(algorithm === undefined ? 1 : onPolicyOptions(algorithm).steps, 1);
    return {
      settings,
      environment,
      totalSteps,
      close,
      tasks: await dataset.tasks(),
      stepWeight: expression === undefined ? stepWeightOf(weighted) : 0,
      comparing: weighted
        .filter(({ name }) => rewards.get(name, "rewards").scope !== "trajectory")
        .map(({ name }) => name),
      async play({ policy, task, seed, id, signal, step, onTurn }) {
        const progress = step === undefined ? undefined : { step, totalSteps };
        const trajectory = await strategy.run({
          policy,
          environment,
          task,
          id,
          groupId: id,
          purpose: purpose === "training" ? "train" : "eval",
          progress,
          roles,
          signal,
          sampling: settings.sampling,
          seed: seedFrom(settings.seed, "episode", seed),
          onTurn,
        });
        const tokenizer = "open" in policy ? {} : { tokenizer: policy.tokenizer };
        const scoring = { expression, roles, retriever, cache, signal, ...progress, ...tokenizer };
        return {
          trajectory,
          unscored: await scoreTrajectories([{ trajectory, task }], weighted, scoring),
        };
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The share of the reward `environment`, which is the sum of the steps' own rewards. */
function stepWeightOf(weighted: ReturnType<typeof weightedRewards>): number {
  const shares = weightsAt(weighted, {});
  const own = weighted.filter(({ name }) => name === "environment");
  return own.reduce((sum, { name, as = name }) => sum + (shares.get(as) ?? 0), 0);
}

import { type Node, parseExpression } from "../rewards/expression/parse.ts";
import type { Settings } from "../run/settings/settings-schema.ts";

/** A reward as `scoring.py` computes it. */
interface ExportedReward {
  name: string;
  /** Its name in the expression and in logs. */
  as: string;
  /** Its share in the sum. */
  weight: number;
  options: Readonly<Record<string, unknown>>;
}

/** What `scoring.py` reads of the rewards. */
interface ExportedRewards {
  rewards: ExportedReward[];
  /** The tree of the recipe's expression; null: the weighted sum alone. */
  reward: unknown;
}

type RewardSetting = Settings["rewards"][number];

/** Rewards that `scoring.py` computes. */
const TRANSLATED = new Set(["exact-match", "token-f1", "tag-format"]);
/** Facts and functions of expressions that it knows. */
const FACTS = new Set(["answered", "turns"]);
const FUNCTIONS = new Set(["if", "min", "max"]);

/** Why the expression of settings is not translated; null: it is, or there is none. */
export function expressionProblem({ reward, rewards }: Settings): string | null {
  if (reward === undefined) return null;
  const translated = rewards.filter(
    (each) => TRANSLATED.has(each.name) && rewardProblem({ ...each, weight: 1 }) === null,
  );
  return nodeProblem(parseExpression(reward), new Set(translated.map(({ name, as = name }) => as)));
}

/** Why a reward is not translated; null: it is. One of weight 0 is only recorded, so it need not be. */
export function rewardProblem(given: RewardSetting): string | null {
  const { name, as: _, weight = 1, ...options } = given;
  if (weight === 0) return null;
  if (!TRANSLATED.has(name)) return name;
  const { per, intermediateAnswers } = options as Record<string, unknown>;
  if (typeof weight !== "number" || per === "turn") return "weight or per";
  if (intermediateAnswers === true) return "intermediateAnswers";
  const isSchedule = (value: unknown): boolean =>
    typeof value === "object" && value !== null && "schedule" in value;
  return Object.values(options).some(isSchedule) ? "schedule" : null;
}

/** The rewards of settings that `rewardProblem` passes. */
export function exportedRewards({ rewards, reward }: Settings): ExportedRewards {
  const absent = reward === undefined ? 1 : 0;
  const used = rewards.flatMap(({ name, as = name, weight = absent, ...options }) =>
    weight === 0 && reward === undefined ? [] : [{ name, as, weight: weight as number, options }],
  );
  return {
    rewards: used.filter(({ name }) => TRANSLATED.has(name)),
    reward: reward === undefined ? null : bare(parseExpression(reward)),
  };
}

function nodeProblem(node: Node, rewards: ReadonlySet<string>): string | null {
  switch (node.kind) {
    case "number":
      return null;
    case "text":
      return node.value;
    case "name":
      return rewards.has(node.name) || FACTS.has(node.name) ? null : node.name;
    case "prefix":
      return nodeProblem(node.of, rewards);
    case "infix":
      // A quotient may have no value, which agentrl leaves out of the batch.
      if (node.sign === "/") return node.sign;
      return nodeProblem(node.left, rewards) ?? nodeProblem(node.right, rewards);
    case "call":
      if (!FUNCTIONS.has(node.name)) return node.name;
      return node.given.reduce<string | null>(
        (problem, each) => problem ?? nodeProblem(each, rewards),
        null,
      );
  }
}

/** Without the columns of the text. */
function bare(node: Node): object {
  const { at: _, ...rest } = node;
  if (rest.kind === "prefix") return { ...rest, of: bare(rest.of) };
  if (rest.kind === "infix") return { ...rest, left: bare(rest.left), right: bare(rest.right) };
  return rest.kind === "call" ? { ...rest, given: rest.given.map(bare) } : rest;
}

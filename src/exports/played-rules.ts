import { isDeepStrictEqual } from "node:util";
import type { Budget } from "../env/budget.ts";
import { type Node, parseExpression } from "../rewards/expression/parse.ts";
import { rewards } from "../rewards/index.ts";
import { strategies } from "../rollout/strategies/index.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import { RESOLVED_FILE } from "../run/folder/run-file.ts";
import { type Rule, rule } from "./rule.ts";
import { commonRules, forgets, responseTokens, roomForAll } from "./shared-rules.ts";

/** The settings that the episodes are played by: without contexts that forget, since the trainer has room for all turns, and without `callAt`. */
export function playedSettings(settings: Settings): Settings {
  const { evaluation } = settings;
  const sets = Object.entries(evaluation.sets ?? {}).map(([name, set]) => [name, played(set)]);
  return {
    ...settings,
    budgets: kept(settings.budgets),
    evaluation: {
      ...played(evaluation),
      ...(sets.length === 0 ? {} : { sets: Object.fromEntries(sets) as typeof evaluation.sets }),
    },
  };
}

function kept(budgets: readonly Budget[]): Budget[] {
  return budgets.filter((each) => !forgets(each));
}

interface Evaluated {
  budgets?: Settings["budgets"] | undefined;
  strategy?: { name: string } | undefined;
}

function played<T extends Evaluated>(evaluation: T): T {
  const { budgets, strategy } = evaluation;
  const { callAt: _, ...plain } = { ...strategy } as Record<string, unknown>;
  return {
    ...evaluation,
    ...(budgets === undefined ? {} : { budgets: kept(budgets) }),
    ...(strategy === undefined ? {} : { strategy: plain }),
  };
}

/** Settings of a further evaluation that a trainer has once for all. */
const OF_ALL_SETS = ["sampling", "samplesPerTask"] as const;

/**
 * Rules of trainers whose episodes `agentrl serve env` plays: everything between a question and its reward is agentrl's own, and the
 * trainer samples tokens and learns.
 */
export const playedRules: readonly Rule[] = [
  ...commonRules,
  ...[
    ...["policy.chat", "environment", "dataset", "retriever", "retrievers", "models"],
    ...["evaluation.dataset", "evaluation.budgets", "evaluation.retriever"],
  ].map((from) => rule(from, { file: RESOLVED_FILE })),
  rule<boolean | "memory">("environment.reissue", {
    file: RESOLVED_FILE,
    differs: (reissues) =>
      reissues
        ? "each message is a sequence of its own, and every one of a trajectory ends with its reward"
        : null,
  }),
  rule<readonly Budget[]>("budgets", {
    allowed: {
      says: "budgets of which one bounds the whole: context, response, turns or calls",
      is: (_, settings) => Number.isFinite(responseTokens(settings)),
    },
    file: RESOLVED_FILE,
    differs: (budgets, settings) => (budgets.some(forgets) ? roomForAll(settings) : null),
  }),
  rule<{ name: string }>("strategy", {
    allowed: {
      says: "one that makes one trajectory of a rollout, played by agentrl itself",
      is: ({ name, ...options }) =>
        name !== "external" && strategies.get(name, "strategy").leaves(options) === 1,
    },
    file: RESOLVED_FILE,
  }),
  rule<object>("evaluation.strategy", {
    file: RESOLVED_FILE,
    differs: (strategy) =>
      "callAt" in strategy
        ? "callAt is left out on the way, since it asks for log-probabilities of given texts; agentrl eval has it"
        : null,
  }),
  rule<Settings["rewards"]>("rewards", {
    allowed: {
      says: "rewards that need one trajectory alone",
      is: (given) => given.every(needsOne),
      item: needsOne,
    },
    file: RESOLVED_FILE,
  }),
  rule<string>("reward", {
    allowed: {
      says: "an expression over one trajectory, without group_mean, group_max, batch_mean and last_mean",
      is: (text) => !compares(parseExpression(text)),
    },
    file: RESOLVED_FILE,
  }),
  rule<Readonly<Record<string, Readonly<Record<string, unknown>>>>>("evaluation.sets", {
    file: RESOLVED_FILE,
    differs: (sets, { evaluation }) => {
      const own: Readonly<Record<string, unknown>> = evaluation;
      const other = Object.entries(sets).filter(([, set]) =>
        OF_ALL_SETS.some((key) => set[key] !== undefined && !isDeepStrictEqual(set[key], own[key])),
      );
      return other.length === 0
        ? null
        : `${other.map(([name]) => name).join(", ")} sampled as evaluation.sampling and evaluation.samplesPerTask say`;
    },
  }),
];

function needsOne({ name }: Settings["rewards"][number]): boolean {
  return rewards.get(name, "rewards").scope === "trajectory";
}

const COMPARING = new Set(["group_mean", "group_max", "batch_mean", "last_mean"]);

function compares(node: Node): boolean {
  if (node.kind === "prefix") return compares(node.of);
  if (node.kind === "infix") return compares(node.left) || compares(node.right);
  return node.kind === "call" && (COMPARING.has(node.name) || node.given.some(compares));
}

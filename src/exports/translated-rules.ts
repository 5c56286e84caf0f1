import { isDeepStrictEqual } from "node:util";
import type { Budget } from "../env/budget.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import { expressionProblem, rewardProblem } from "./exported-rewards.ts";
import { type Allowed, type Rule, rule, unused } from "./rule.ts";
import { commonRules, forgets, oneOf, only, roomForAll } from "./shared-rules.ts";

/** Holds the settings that the exported Python plays and scores episodes by. */
export const EXPERIMENT_FILE = "experiment.json";

/** The budgets that the exported episodes keep; undefined where the recipe has none of the kind. */
export function exportedBudgets(budgets: readonly Budget[]) {
  const limitOf = (scope: Budget["scope"]): number | undefined =>
    budgets.find((each) => each.scope === scope && !forgets(each))?.limit as number | undefined;
  const turns = budgets.find(({ scope, unit }) => scope === "trajectory" && unit === "turns");
  return {
    turns: turns && { limit: turns.limit as number, onExhausted: turns.onExhausted },
    turnTokens: limitOf("turn"),
    observationTokens: limitOf("observation"),
    contextTokens: limitOf("context"),
  };
}

const BUDGETS: Readonly<Record<string, readonly string[]>> = {
  "trajectory, turns": ["final-turn", "end"],
  "turn, tokens": ["cut"],
  "observation, tokens": ["cut"],
  "context, tokens": ["end", "drop-oldest", "drop-middle"],
};

const allowedBudgets: Allowed<readonly Budget[]> = {
  says: `${Object.entries(BUDGETS)
    .map(([place, on]) => `${place}: ${on.join(" or ")}`)
    .join("; ")}; turns limited, limits that are numbers`,
  is: (budgets) =>
    budgets.some(({ scope, unit }) => scope === "trajectory" && unit === "turns") &&
    budgets.every(isExported),
  item: isExported,
};

function isExported({ scope, unit, onExhausted, limit, tool }: Budget): boolean {
  const on = BUDGETS[`${scope}, ${unit}`] ?? [];
  return on.includes(onExhausted) && typeof limit === "number" && tool === undefined;
}

/** Retrievers whose answer depends on the query alone, so a server of /retrieve can replace them. */
const SERVED = [
  ...["bm25", "dense", "hybrid", "rerank"],
  ...["search-r1-server", "opensearch", "qdrant", "web-search"],
];

/** Options of grammars of tags that the exported episodes keep. */
const protocolKeys = new Set([
  ...["invalidMessage", "resultTag", "callTags", "answerTag"],
  ...["thoughts", "blocks", "boxed", "spliced"],
]);

/** Rules of trainers whose episodes the exported Python plays. */
export const translatedRules: readonly Rule[] = [
  ...commonRules,
  rule("policy.from", { file: EXPERIMENT_FILE }),
  rule("environment.name", { allowed: oneOf("search-qa"), file: EXPERIMENT_FILE }),
  rule<{ name: string; answer: { pattern: string } }>("environment.protocol", {
    allowed: {
      says: "search-r1 or tags, without intermediateAnswers or an answer.pattern of its own",
      is: ({ name, answer, ...options }) =>
        ["search-r1", "tags"].includes(name) &&
        answer.pattern === "<answer>(.*?)</answer>" &&
        Object.keys(options).every((key) => protocolKeys.has(key)),
    },
    file: EXPERIMENT_FILE,
  }),
  rule<readonly Record<string, unknown>[]>("environment.tools", {
    allowed: {
      says: "one tool, corpus-search, with topK and show",
      is: (tools) =>
        tools.length === 1 &&
        tools.every((tool) => tool["name"] === "corpus-search" && tool["retriever"] === undefined),
    },
    file: EXPERIMENT_FILE,
  }),
  rule("environment.prompt", { file: "data" }),
  rule("environment.onInvalid", { file: EXPERIMENT_FILE }),
  rule("environment.reissue", { allowed: only(false) }),
  rule<readonly Budget[]>("budgets", {
    allowed: allowedBudgets,
    file: EXPERIMENT_FILE,
    differs: (budgets, settings) => (budgets.some(forgets) ? roomForAll(settings) : null),
  }),
  rule<{ name: string }>("strategy", {
    allowed: { says: "agent", is: ({ name }) => name === "agent" },
    file: EXPERIMENT_FILE,
  }),
  rule("dataset", { file: "data" }),
  rule("retriever", {
    allowed: {
      says: `one that a server can stand for: ${SERVED.join(", ")}`,
      is: (retriever) =>
        namesIn(retriever).every((name) => SERVED.includes(name)) && namesIn(retriever).length > 0,
    },
    file: "README.md",
  }),
  rule<Settings["rewards"]>("rewards", {
    allowed: {
      says: "exact-match, token-f1, and tag-format with one value a trajectory; weights and options without schedules",
      is: (rewards) => rewards.every((each) => rewardProblem(each) === null),
      item: (each) => rewardProblem(each) === null,
    },
    file: EXPERIMENT_FILE,
  }),
  rule<string>("reward", {
    allowed: {
      says: "an expression over rewards, numbers, answered and turns, with if, min, max and signs other than /",
      is: (_, settings) => expressionProblem(settings) === null,
    },
    file: EXPERIMENT_FILE,
  }),
  rule("evaluation.dataset", { file: "data" }),
  rule<{ name: string }>("evaluation.strategy", {
    allowed: { says: "agent", is: ({ name }) => name === "agent" },
    file: EXPERIMENT_FILE,
  }),
  rule("evaluation.budgets", {
    allowed: {
      says: "the budgets of training",
      is: (budgets, settings) => isDeepStrictEqual(budgets, settings.budgets),
    },
  }),
  rule("evaluation.retriever", {
    allowed: {
      says: "the retriever of training, since there is one server",
      is: (retriever, settings) => isDeepStrictEqual(retriever, settings.retriever),
    },
  }),
  rule<Readonly<Record<string, object>>>("evaluation.sets", {
    file: "data",
    differs: (sets, settings) => {
      const left = Object.keys(sets).filter((name) => !exportedSets(settings).has(name));
      return left.length === 0
        ? null
        : `${left.join(", ")} not exported, since more than the questions is otherwise there`;
    },
  }),
  ...unused("asked by parts that are not exported", ["models", "retrievers"]),
];

/** Settings of a further evaluation that a validation row does not hold. */
const OF_A_SET = ["retriever", "strategy", "sampling", "budgets", "samplesPerTask", "environment"];

/** Further evaluations that differ in their questions alone, by name: they are validation rows too. */
export function exportedSets({ evaluation, ...own }: Settings): Map<string, Settings["dataset"]> {
  const plain: Readonly<Record<string, unknown>> = { ...own, ...evaluation };
  return new Map(
    Object.entries(evaluation.sets ?? {}).flatMap(
      ([name, set]): [string, Settings["dataset"]][] => {
        const given = set as Readonly<Record<string, unknown>>;
        const isAlike = OF_A_SET.every(
          (key) => given[key] === undefined || isDeepStrictEqual(given[key], plain[key]),
        );
        return isAlike && set.dataset !== undefined ? [[name, set.dataset]] : [];
      },
    ),
  );
}

/** All part names in a retriever's settings, the inner ones too. */
function namesIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  const { name, of } = value as { name?: unknown; of?: unknown };
  const inner = Array.isArray(of) ? of.flatMap(namesIn) : namesIn(of);
  return [...(typeof name === "string" ? [name] : []), ...inner];
}

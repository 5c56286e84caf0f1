import { leavesOf } from "../base/leaves.ts";
import { pluginHashes } from "../base/plugins.ts";
import type { Dataset } from "../data/dataset.ts";
import type { Environment } from "../env/environments/environment.ts";
import {
  type Answerer,
  evaluate,
  evaluatePolicy,
  type EvaluationRun,
} from "../evaluate/evaluate.ts";
import { drawsMeasurer, measurer, measuresOf } from "../evaluate/measures.ts";
import { ANSWER_METRICS_VERSION } from "../evaluate/evaluation-row.ts";
import type { EvaluationSummary } from "../evaluate/evaluation-summary.ts";
import { fingerprintOf, type ProtocolParts } from "../evaluate/fingerprint.ts";
import type { Retriever } from "../retrieval/retriever.ts";
import { sharedCache } from "../rewards/context.ts";
import type { Policy } from "../rollout/policy.ts";
import type { Scoring } from "../rollout/score.ts";
import { openStrategy, strategyMark } from "../rollout/strategies/named-strategy.ts";
import type { Roles } from "../trajectory/role.ts";
import { budgetsFor } from "./assemble.ts";
import type { Settings } from "./settings/settings-schema.ts";

/** All of a result's protocol but the number of questions, which is known at the end. */
export type ProtocolSoFar = Omit<ProtocolParts, "questions">;

/** What is evaluated, and under which protocol. */
export interface EvaluationSubject {
  settings: Settings;
  /** Writes messages, or has answered already. */
  policy: Policy | Answerer;
  environment: Environment;
  /** Models that strategies ask by name. */
  roles: Roles;
  protocol: ProtocolSoFar;
  /** What rewards and metrics may ask beside the roles. */
  scoring: Pick<Scoring, "retriever" | "tokenizer">;
}

/** A summary with what it was measured under. */
export interface MeasuredEvaluation {
  summary: EvaluationSummary;
  protocol: ProtocolParts;
  /** Hash of `protocol`: only results of one fingerprint are comparable. */
  fingerprint: string;
  /** Whether the strategy, a tool or the retriever read the questions' gold: a control, no result. */
  readsGold: boolean;
}

/** Evaluates a policy as a recipe's `evaluation` says. */
export async function evaluateSubject(
  { settings, policy, environment, roles, protocol, scoring }: EvaluationSubject,
  run: Omit<EvaluationRun, "seed" | "samplesPerTask"> & { clock?: () => number },
): Promise<MeasuredEvaluation> {
  const { strategy, sampling, samplesPerTask } = settings.evaluation;
  const measures = measuresOf(settings);
  const measure = measurer(measures, { ...scoring, roles, cache: sharedCache() });
  const measureDraws = drawsMeasurer(measures);
  const given = { ...run, samplesPerTask, seed: settings.seed, measure, measureDraws };
  const summary =
    typeof policy === "function"
      ? await evaluate(policy, given)
      : await evaluatePolicy({ policy, environment, roles, strategy, sampling, ...given });
  const draws = Object.values(summary.ends).reduce((sum, count) => sum + count, 0);
  const stated = { ...protocol, questions: Math.round(draws / summary.samplesPerTask) };
  return {
    summary,
    protocol: stated,
    fingerprint: fingerprintOf(stated).hex,
    readsGold: environment.readsGold || openStrategy(strategy, "evaluation.strategy").readsGold,
  };
}

/** What a policy is measured under, for the fingerprint of its result. @param rendering of its prompts; undefined: as they are. */
export function protocolOf(
  settings: Settings,
  dataset: Pick<Dataset, "fingerprint">,
  retriever: Pick<Retriever, "fingerprint">,
  rendering: unknown,
): ProtocolSoFar {
  const common = { dataset: dataset.fingerprint, metrics: ANSWER_METRICS_VERSION };
  if (settings.policy.predictions !== undefined) {
    const nothing = { retriever: "none", topK: {}, environment: null, prompt: "", sampling: null };
    return { ...common, ...nothing, strategy: "predictions" };
  }
  const { prompt, ...own } = settings.environment as Record<string, unknown>;
  const environment = { ...own, budgets: budgetsFor(settings, "evaluation") };
  const shown = [...leavesOf(environment)].filter(([keys]) => keys.at(-1) === "topK");
  return {
    ...common,
    retriever: retriever.fingerprint,
    topK: Object.fromEntries(shown.map(([keys, value]) => [keys.join("."), value])),
    strategy: strategyMark(settings.evaluation.strategy),
    environment,
    prompt: typeof prompt === "string" ? prompt : "",
    rendering,
    sampling: settings.evaluation.sampling,
    ...pluginHashes([
      settings.environment,
      settings.retrievers,
      settings.evaluation.retriever ?? settings.retriever,
      settings.evaluation.strategy,
    ]),
  };
}

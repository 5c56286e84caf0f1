/**
 * What `import … from "agentrl"` gives: helpers that make parts, for plugins (docs/extend.md), and the functions that the commands are made
 * of, for scripts.
 */

// First of all, so that no other package of the program makes a session before it.
import "./base/telemetry.ts";

// Parts.
export { z } from "./base/schema.ts";
export { random, seedFrom } from "./base/random.ts";
export type { Random } from "./base/random.ts";
export { meanOrZero as mean } from "./base/statistics.ts";
export { creditByAddress, tokensAt } from "./advantages/credit.ts";
export { defineEstimator, sampleDeviation } from "./advantages/estimator.ts";
export type {
  Advantage,
  CreditTokens,
  DetailedAdvantage,
  Rewarded,
} from "./advantages/estimator.ts";
export { defineAlgorithm, onPolicyShape, ownLossShape } from "./algorithms/algorithm.ts";
export { defineFilter } from "./algorithms/filters/filter.ts";
export { defineSampler } from "./algorithms/samplers/sampler.ts";
export { groupRequest } from "./algorithms/samplers/shuffled.ts";
export { scoresOf } from "./algorithms/scored-group.ts";
export type { RolloutGroup, ScoredGroup } from "./algorithms/scored-group.ts";
export { datasetSchema, defineDataset } from "./data/dataset.ts";
export type { Dataset, DatasetContext } from "./data/dataset.ts";
export { defineLayout, parseRecord } from "./data/layouts/layout.ts";
export type { JsonRecord } from "./data/layouts/layout.ts";
export { defineEnvironment } from "./env/environments/environment.ts";
export type { Environment, Episode, StepResult } from "./env/environments/environment.ts";
export { textAfter } from "./env/protocols/protocol.ts";
export { defineProtocol } from "./env/protocols/protocol.ts";
export type { Protocol } from "./env/protocols/protocol.ts";
export { protocols } from "./env/protocols/index.ts";
export { defineTeacher } from "./env/teacher.ts";
export type { Script, ScriptPlace } from "./env/teacher.ts";
export { defineTool, stateless } from "./env/tools/tool.ts";
export type {
  AgentRequest,
  AgentResult,
  Found,
  ToolCall,
  ToolContext,
  ToolSession,
} from "./env/tools/tool.ts";
export { defineWorld } from "./env/world.ts";
export { defineMetric } from "./evaluate/metrics/metric.ts";
export type { EvaluationRow } from "./evaluate/evaluation-row.ts";
export type { MeasuredDraw } from "./evaluate/metrics/metric.ts";
export type { Metric } from "./evaluate/metrics/metric.ts";
export type { ToolSchema } from "./http/chat-messages.ts";
export { defineLoss, weightedSum } from "./losses/loss.ts";
export type { Loss, LossInputs, LossOutputs } from "./losses/loss.ts";
export { definePreferenceLoss } from "./losses/preference/preference-loss.ts";
export type { ComparedSide, PairLoss } from "./losses/preference/preference-loss.ts";
export { around, defineRetriever, openAll } from "./retrieval/retriever.ts";
export { retrieverSchema } from "./retrieval/retriever.ts";
export type { Hit, Retriever, RetrieverContext } from "./retrieval/retriever.ts";
export type { RewardContext } from "./rewards/context.ts";
export { answerExpectations } from "./rewards/expectations.ts";
export { defineJudgePrompt } from "./rewards/judge/judge-prompt.ts";
export { defineReward } from "./rewards/reward.ts";
export type { PlacedValue, Reward, RewardResult, Scored } from "./rewards/reward.ts";
export { defineHint } from "./rollout/hints/hint.ts";
export type { HintMoment, OpenedHint } from "./rollout/hints/hint.ts";
export { defineStage } from "./run/stages/stage.ts";
export type { StageResult, StageSession } from "./run/stages/stage.ts";
export { defineStrategy } from "./rollout/strategies/strategy.ts";
export type { Strategy } from "./rollout/strategies/strategy.ts";
export { defineAnnotation } from "./synth/annotations/annotation.ts";
export { defineScorer, likelihoodOf, scoringTeacher } from "./synth/scorers/scorer.ts";
export type { OpenedScorer, ScorerResources } from "./synth/scorers/scorer.ts";
export { defineSelector } from "./synth/selectors/selector.ts";
export type { SampleFacts, Selected } from "./synth/selectors/selector.ts";
export { defineGate, defineStep } from "./synth/steps/step.ts";
export type { SampleGroup, StepResources, StepResult as SynthResult } from "./synth/steps/step.ts";
export { defineAlarm } from "./watch/alarms/alarm.ts";
export type { Finding } from "./watch/alarms/alarm.ts";
export type { MetricsLine } from "./watch/metrics-line.ts";
export { defineReporter } from "./watch/reporters/reporter.ts";
export type { Reporter, RunStart } from "./watch/reporters/reporter.ts";

// For strategies: play messages, branch, record.
export { playMessage, playWritten } from "./rollout/play-message.ts";
export type { PlayedTurn, TurnPlace } from "./rollout/play-message.ts";
export { rollOutOn } from "./rollout/roll-out.ts";
export type { Play, RolloutVariant, Standing } from "./rollout/roll-out.ts";
export type { Dialogue, Input, Message } from "./rollout/dialogue.ts";
export { rollOutTree } from "./rollout/tree.ts";
export type { TreeShape } from "./rollout/tree.ts";
export { appendBranch, record } from "./rollout/record.ts";
export type { RolloutOptions } from "./rollout/record.ts";
export { exactMatch, tokenF1 } from "./text/answers.ts";

// The records that parts read.
export { readerPrompt, ROLE_REPLY } from "./trajectory/role-prompts.ts";
export { roleName } from "./trajectory/role.ts";
export type { Role, Roles } from "./trajectory/role.ts";
export type { Passage, Task, TaskAnnotations } from "./trajectory/task.ts";
export type {
  Action,
  Call,
  EndReason,
  Observation,
  Trajectory,
  Turn,
} from "./trajectory/trajectory.ts";

// Graph operators, for losses.
export * as ops from "./autodiff/ops/elementwise.ts";
export * as reduce from "./autodiff/ops/reduce.ts";

// Running.
export { openLocalEngine } from "./engine/local/local-engine.ts";
export { evaluatePolicy } from "./evaluate/evaluate.ts";
export { resolveRecipe } from "./run/settings/resolve-recipe.ts";
export { runRecipe } from "./run/run-recipe.ts";
export { noneRetriever } from "./retrieval/controls/none.ts";
export { openIndexFolder as openIndex } from "./retrieval/open-index-folder.ts";
export { enginePolicy, scriptedPolicy } from "./rollout/policy.ts";
export { policyFolder } from "./run/assemble.ts";
export { makeBase } from "./run/make-base.ts";
export { rollOut } from "./rollout/roll-out.ts";
export { scoreTrajectories } from "./rollout/score.ts";
export { trainOnPolicy } from "./algorithms/on-policy.ts";
export { environments } from "./worlds/datasets.ts";
export { AgentrlError, ConfigError, DataError, RolloutError } from "./base/errors.ts";

/**
 * What `import … from "agentrl"` gives: helpers that make parts, for plugins (docs/extend.md), and the functions that the commands are made
 * of, for scripts.
 */

// First of all, so that no other package of the program makes a session before it.
import "./base/telemetry.ts";

// Parts.
export { defineEstimator, sampleDeviation } from "./advantages/estimator.ts";
export { meanOrZero as mean } from "./base/statistics.ts";
export type { Advantage, CreditTokens, Rewarded } from "./advantages/estimator.ts";
export { creditByAddress, tokensAt } from "./advantages/credit.ts";
export { random } from "./base/random.ts";
export { z } from "./base/schema.ts";
export { defineEnvironment } from "./env/environments/environment.ts";
export type { Environment, Episode, StepResult } from "./env/environments/environment.ts";
export { defineTeacher } from "./env/teacher.ts";
export type { Script, ScriptPlace } from "./env/teacher.ts";
export { defineWorld } from "./env/world.ts";
export { defineDataset } from "./data/dataset.ts";
export { defineProtocol } from "./env/protocols/protocol.ts";
export type { Protocol } from "./env/protocols/protocol.ts";
export { protocols } from "./env/protocols/index.ts";
export { defineTool, stateless } from "./env/tools/tool.ts";
export type { ToolSchema } from "./http/chat-messages.ts";
export { defineLoss } from "./losses/loss.ts";
export { defineRetriever } from "./retrieval/inner-retrievers.ts";
export type { Hit, Retriever } from "./retrieval/retriever.ts";
export type { RewardContext } from "./rewards/context.ts";
export { answerExpectations } from "./rewards/expectations.ts";
export { defineReward } from "./rewards/reward.ts";
export type { Scored } from "./rewards/reward.ts";
export { defineStrategy } from "./rollout/strategies/strategy.ts";
export { defineFilter } from "./algorithms/filters/filter.ts";
export { defineSampler } from "./algorithms/samplers/sampler.ts";
export { groupRequest } from "./algorithms/samplers/shuffled.ts";
export { scoresOf } from "./algorithms/scored-group.ts";
export type { RolloutGroup, ScoredGroup } from "./algorithms/scored-group.ts";

// The records that parts read.
export { roleName } from "./trajectory/role.ts";
export type { Role, Roles } from "./trajectory/role.ts";
export type { Task } from "./trajectory/task.ts";
export type { Trajectory, Turn } from "./trajectory/trajectory.ts";

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
export { environments } from "./worlds/environments.ts";
export { AgentrlError, ConfigError, DataError, RolloutError } from "./base/errors.ts";

import { advantageEstimators } from "../../advantages/index.ts";
import { ConfigError } from "../../base/errors.ts";
import { valueAt } from "../../base/schedule.ts";
import { budgetOf, type BudgetNow, largestBudgets, observationTokens } from "../../env/budget.ts";
import { openStrategy } from "../../rollout/strategies/named-strategy.ts";
import { DEFAULT_TURN_TOKENS } from "../../rollout/token-dialogue.ts";
import { algorithms, criticTrunkOf } from "../../algorithms/index.ts";
import { estimatorOf, type OnPolicyOptions } from "../../algorithms/algorithm.ts";
import { samplers } from "../../algorithms/samplers/index.ts";
import { longestSequence } from "../plan/longest-sequence.ts";
import type { Settings } from "../settings/settings-schema.ts";
import type { RunRecord } from "../settings/resolved-yaml.ts";
import type { BudgetFacts, TokenFacts } from "./budget-facts.ts";
import type { BudgetFinding } from "./budget-finding.ts";
import { staleFindings } from "./off-policy.ts";
import { ratioFindings } from "./ratio-findings.ts";
import { vocabularyProblem } from "./spelled-words.ts";

type Found = Omit<BudgetFinding, "origin">;

/** Share of observations that may be cut before it is worth a line. */
const TOLERATED_CUTS = 0.05;

/**
 * Holds a recipe's budgets against each other, and where facts are given against its questions, passages and model. For trainings by
 * rollouts; of anything else there is nothing to say.
 */
export function checkBudgets(
  settings: Settings,
  { originOf }: Pick<RunRecord, "originOf">,
  facts: BudgetFacts | null,
): BudgetFinding[] {
  const { algorithm } = settings;
  if (algorithm === undefined) return [];
  const options = algorithm as unknown as OnPolicyOptions;
  const found = [
    ...batchFindings(settings, algorithm.name, options),
    ...signalFindings(settings, options),
    ...ratioFindings(settings, options),
    ...staleFindings(settings),
    ...scheduleFindings(options),
    ...(facts === null ? [] : factFindings(settings, options, facts)),
  ];
  return found.map((each) => ({ ...each, origin: originOf(each.key) }));
}

/**
 * Refuses a training in which nothing could be learned.
 * @throws {ConfigError} VOCABULARY_UNFIT, alone because token counts mean nothing then; BUDGETS_UNFIT with all other errors.
 */
export function requireSoundBudgets(findings: readonly BudgetFinding[]): void {
  const errors = findings.filter(({ severity }) => severity === "error");
  if (errors.length === 0) return;
  const textOf = ({ key, origin, message }: BudgetFinding): string =>
    `${key} (${origin}): ${message}`;
  const anyway = "budgetCheck: false skips this check.";
  const vocabulary = errors.find(({ key }) => key === VOCABULARY);
  if (vocabulary !== undefined)
    throw new ConfigError("VOCABULARY_UNFIT", `${textOf(vocabulary)} ${anyway}`);
  throw new ConfigError("BUDGETS_UNFIT", [...errors.map(textOf), anyway].join("\n"));
}

function batchFindings(
  { strategy }: Pick<Settings, "strategy">,
  name: string,
  { promptsPerStep, groupSize, minibatches, ...rest }: OnPolicyOptions,
): Found[] {
  const found: Found[] = [];
  const trajectories = promptsPerStep * groupSize;
  const product = `${promptsPerStep} × ${groupSize} = ${trajectories} trajectories`;
  if (minibatches > trajectories) {
    found.push({
      severity: "error",
      key: "algorithm.minibatches",
      message: `${minibatches} minibatches of ${product}: ${minibatches - trajectories} of them would be empty. At most ${trajectories}.`,
    });
  } else if (trajectories % minibatches !== 0) {
    const least = Math.floor(trajectories / minibatches);
    found.push({
      severity: "warning",
      key: "algorithm.minibatches",
      message: `${product} do not divide into ${minibatches} minibatches: some have ${least}, some ${least + 1}, and each is one step of the optimiser. ${divisorsText(trajectories)} divide evenly.`,
    });
  }
  const given = { promptsPerStep, groupSize, minibatches, ...rest };
  const named = estimatorOf(algorithms.get(name, "algorithm"), given);
  const estimator = advantageEstimators.get(named.name, "algorithm");
  // A rollout that branches gives several trajectories.
  if (groupSize * openStrategy(strategy, "strategy").leaves < 2 && estimator.needsGroups) {
    found.push({
      severity: "error",
      key: "algorithm.groupSize",
      message: `${groupSize}: trajectories are compared with others of the same question, of which there are none, so every advantage is 0. At least 2.`,
    });
  }
  if (estimator.needsBaselines === true && !givesBaselines(rest.sampler.name)) {
    const fitting = samplers.parts.flatMap((part) => (givesBaselines(part.name) ? part.name : []));
    found.push({
      severity: "error",
      key: "algorithm.sampler",
      message: `${rest.sampler.name}: ${named.name} compares each trajectory with a baseline of its group, and this sampler asks for none, so every advantage is 0. Allowed: ${fitting.join(", ")}.`,
    });
  }
  const hasCritic = criticTrunkOf({ name, ...given }) !== undefined;
  if (estimator.reads.includes("values") !== hasCritic) {
    const why = hasCritic
      ? `${named.name}: it does not read values, so the critic of ${name} would learn nothing. Leave it out for gae, or use algorithm.name grpo or reinforce.`
      : `${named.name}: it reads a critic's values, and ${name} has no critic. Use algorithm.name ppo.`;
    found.push({ severity: "error", key: "algorithm.advantage", message: why });
  }
  return found;
}

function givesBaselines(sampler: string): boolean {
  return samplers.get(sampler, "algorithm.sampler").givesBaselines === true;
}

function divisorsText(count: number): string {
  const all = Array.from({ length: Math.min(count, 16) }, (_, i) => i + 1);
  return all.filter((each) => count % each === 0).join(", ");
}

/** Whether there can be anything to learn from. */
function signalFindings(
  { rewards, reward, sampling, evaluation }: Settings,
  { groupSize }: OnPolicyOptions,
): Found[] {
  const found: Found[] = [];
  // An expression may pay for facts of the trajectory alone.
  if (reward === undefined && rewards.every(({ weight }) => weight === 0)) {
    found.push({
      severity: "error",
      key: "rewards",
      message:
        "every reward has weight 0, so all trajectories are worth the same. Give one a weight.",
    });
  }
  if (sampling.temperature === 0 && groupSize > 1) {
    found.push({
      severity: "error",
      key: "sampling.temperature",
      message: `0: the ${groupSize} trajectories of a question are all the same, so no reward differs. 1 samples from the policy as it is.`,
    });
  }
  if (evaluation.sampling.temperature === 0 && evaluation.samplesPerTask > 1) {
    found.push({
      severity: "warning",
      key: "evaluation.samplesPerTask",
      message: `${evaluation.samplesPerTask} draws of each question at temperature 0 are all the same. Take 1, or a temperature above 0.`,
    });
  }
  return found;
}

function scheduleFindings({ optimizer, steps, epochs, minibatches }: OnPolicyOptions): Found[] {
  const { learningRate } = optimizer;
  const updates = steps * epochs * minibatches;
  if (typeof learningRate === "number" || updates === 0) return [];
  const warmup = "warmup" in learningRate ? learningRate.warmup : 0;
  const stretch = learningRate.unit === "steps" ? warmup : warmup * (updates - 1);
  if (stretch < updates || warmup === 0) return [];
  const last = valueAt(learningRate, updates - 1, updates);
  return [
    {
      severity: "warning",
      key: "algorithm.optimizer.learningRate.warmup",
      message: `${stretch} of ${updates} updates (${steps} steps × ${epochs} × ${minibatches}): the learning rate ends at ${Number(last.toPrecision(3))} before it is warm. Shorten the warm-up, or train longer.`,
    },
  ];
}

function factFindings(settings: Settings, options: OnPolicyOptions, facts: BudgetFacts): Found[] {
  const { questions, tokens } = facts;
  const { promptsPerStep } = options;
  const found: Found[] = [];
  if (questions !== null && questions < promptsPerStep) {
    found.push({
      severity: "warning",
      key: "algorithm.promptsPerStep",
      message: `${promptsPerStep} of ${questions} questions: every step has some of them twice. At most ${questions}, or more questions.`,
    });
  }
  if (tokens === null) return found;
  const sized = {
    budgets: largestBudgets(settings.budgets),
    tokens,
    maxPositions: facts.maxPositions,
  };
  return [
    ...found,
    ...vocabularyFindings(settings, tokens),
    ...observationFindings(settings, sized),
    ...messageFindings(sized),
    ...contextFindings(settings, sized),
  ];
}

/** The setting of a vocabulary that lacks the questions' words. */
const VOCABULARY = "policy.from";

function vocabularyFindings({ policy }: Settings, { spelled }: TokenFacts): Found[] {
  const problem = vocabularyProblem(spelled);
  if (problem === null) return [];
  const cure = "Name another model with --model, e.g. Qwen/Qwen2.5-0.5B-Instruct.";
  return [{ severity: "error", key: VOCABULARY, message: `is ${policy.from}: ${problem} ${cure}` }];
}

interface Sized {
  budgets: readonly BudgetNow[];
  tokens: TokenFacts;
  maxPositions: number;
}

/** Whether what a search shows fits its budget. */
function observationFindings(settings: Settings, { budgets, tokens }: Sized): Found[] {
  const limit = observationTokens(budgets);
  const { observations } = tokens;
  if (limit === undefined || observations.length === 0) return [];
  if (!openStrategy(settings.strategy, "strategy").searches) return [];
  const cut = observations.filter((each) => each > limit).length / observations.length;
  if (cut <= TOLERATED_CUTS) return [];
  const sizes = `${quantile(observations, 0.5)} tokens at the median, ${Math.max(...observations)} at most`;
  const key = "budgets";
  if (Math.min(...observations) > 2 * limit) {
    return [
      {
        severity: "error",
        key,
        message: `an observation may have ${limit} tokens, and what a search shows has ${sizes} in a sample: less than half of any would be seen. Allow ${quantile(observations, 0.95)}, or show fewer passages (topK).`,
      },
    ];
  }
  return [
    {
      severity: "warning",
      key,
      message: `an observation may have ${limit} tokens; of what searches show in a sample (${sizes}), ${percent(cut)} would be cut. Allow ${quantile(observations, 0.95)}, or show fewer passages (topK).${losesItsEnd(budgets)}`,
    },
  ];
}

/** A small policy that reads a reply without its closing tag goes on writing the passage (docs/environments.md). */
function losesItsEnd(budgets: readonly BudgetNow[]): string {
  return budgetOf(budgets, "observation") === null
    ? ""
    : " The cut takes the reply's closing tag as well, as in Search-R1; a budget with tool: search keeps it.";
}

/** Whether a message has room for an answer. */
function messageFindings({ budgets, tokens: { answers } }: Sized): Found[] {
  const limit = budgetOf(budgets, "turn")?.limit ?? DEFAULT_TURN_TOKENS;
  const long = answers.filter((each) => each > limit).length;
  if (long === 0) return [];
  const all = long === answers.length;
  return [
    {
      severity: all ? "error" : "warning",
      key: "budgets",
      message: `a message may have ${limit} tokens, and for ${percent(long / answers.length)} of a sample of questions the bare answer has more (up to ${Math.max(...answers)}). Allow more.`,
    },
  ];
}

/** Whether turns, observations and prompt fit what the policy can read. */
function contextFindings(settings: Settings, sized: Sized): Found[] {
  const { budgets, tokens, maxPositions } = sized;
  const context = budgetOf(budgets, "context");
  const room = Math.min(context?.limit ?? Infinity, maxPositions - 1);
  const which =
    (context?.limit ?? Infinity) < maxPositions ? "the context's budget" : "the model's positions";
  const prompt = Math.max(0, ...tokens.prompts);
  const answer = quantile(tokens.answers, 0.5);
  const key = "budgets";
  const shown = Math.min(
    quantile(tokens.observations, 0.5),
    observationTokens(budgets) ?? Infinity,
  );
  const { messages, observations } = longestSequence(settings, maxPositions);
  if (prompt + answer > room) {
    return [
      {
        severity: "error",
        key,
        message: `a prompt has up to ${prompt} tokens in a sample and a bare answer ${answer}; ${which} is ${room}, so some questions cannot be answered at all. Shorten environment.prompt, or allow more.`,
      },
    ];
  }
  // What is dropped at its far end is a choice; of messages without an end there is no sum.
  if (messages.count === null || observations.count === null) return [];
  const each = messages.each + (observations.count === 0 ? 0 : shown);
  const all = prompt + observations.count * shown + messages.count * messages.each;
  if (all <= room || observations.count === 0) return [];
  if (context !== null && context.onExhausted !== "end") return [];
  const fitting = Math.max(0, Math.floor((room - prompt - messages.each) / each));
  const sum = `${observations.count} searches (messages of up to ${messages.each} tokens, observations of ${shown} at the median of a sample), an answer and a prompt of up to ${prompt} come to ${all} tokens; ${which} is ${room}`;
  const isHopeless = fitting === 0 && prompt + answer + shown > room;
  const some = fitting >= observations.count / 2 ? "notice" : "warning";
  return [
    {
      severity: isHopeless ? "error" : some,
      key,
      message: `${sum}, which holds ${fitting} when messages are that long: the rest ends without an answer. Allow more, or fewer turns, or shorter messages.`,
    },
  ];
}

function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}

import { budgetOf, largestBudgets, observationTokens } from "../../env/budget.ts";
import { strategies } from "../../rollout/strategies/index.ts";
import { DEFAULT_TURN_TOKENS } from "../../rollout/token-dialogue.ts";
import type { Settings } from "../settings/settings-schema.ts";

/** How long a trajectory's sequence can become, in tokens, and what it follows from. */
export interface LongestSequence {
  tokens: number;
  /** What binds: the context's budget, the model's positions, or the sum of all messages and observations. */
  bound: "context" | "positions" | "turns";
  /** What the policy can write: messages (null: any number), each of at most so many tokens; together at most `tokens`. */
  messages: { count: number | null; each: number; tokens: number };
  /** What it can be shown; null: any number, or any length. */
  observations: { count: number | null; each: number | null };
  /** Of the question in its prompt; assumed, since neither question nor tokenizer is looked at. */
  prompt: number;
}

/** Characters of a prompt to a token, at least, and tokens of a question: assumed where only their sum with the rest binds. */
const PROMPT_CHARACTERS = 3;
const QUESTION_TOKENS = 100;

/** @param maxPositions of the model. */
export function longestSequence(settings: Settings, maxPositions: number): LongestSequence {
  const budgets = largestBudgets(settings.budgets);
  const { prompt: template = "" } = settings.environment as { prompt?: string };
  const turns = budgetOf(budgets, "trajectory");
  const context = budgetOf(budgets, "context")?.limit ?? Infinity;
  const each = budgetOf(budgets, "turn")?.limit ?? DEFAULT_TURN_TOKENS;
  const shown = observationTokens(budgets) ?? Infinity;
  const strategy = strategies.get(settings.strategy.name, "strategy");
  const { prompts } = strategy;
  // In one message there is at most one observation: what was searched for before it.
  const once = { limit: 0, observations: strategy.searches(settingsOf(settings.strategy)) ? 1 : 0 };
  const many = turns?.limit ?? Infinity;
  const { limit, observations } =
    prompts === "once"
      ? once
      : prompts === "own"
        ? { limit: Infinity, observations: Infinity }
        : { limit: many, observations: many };
  const messages = prompts === "grows" && turns?.onExhausted === "end" ? limit : limit + 1;
  const prompt = Math.ceil(template.length / PROMPT_CHARACTERS) + QUESTION_TOKENS;
  const all = prompt + messages * each + (observations === 0 ? 0 : observations * shown);
  const room = Math.min(context, maxPositions - 1);
  const tokens = Math.min(all, room);
  return {
    tokens,
    bound: all <= room ? "turns" : context < maxPositions ? "context" : "positions",
    messages: { count: finite(messages), each, tokens: Math.min(messages * each, tokens) },
    observations: { count: finite(observations), each: finite(shown) },
    prompt,
  };
}

function settingsOf({ name: _, ...options }: Settings["strategy"]): object {
  return options;
}

function finite(count: number): number | null {
  return Number.isFinite(count) ? count : null;
}

import type { JudgePrompt } from "./judge-prompt.ts";

/** What stands in a judge's reply, or why it cannot be read. */
export type ReadVerdict =
  { verdict: string; reason: string; problem: null } | { verdict: null; problem: VerdictProblem };

/**
 * Why a reply is no verdict: nothing in it, cut at the limit on tokens, not one JSON object, without a verdict that is allowed,
 * or with two.
 */
export type VerdictProblem = "empty" | "cut" | "not-json" | "no-verdict" | "two-verdicts";

/**
 * Reads a reply. It must be one JSON object; a block of thoughts before it and a code fence around it are taken away, prose is
 * not: who writes prose may quote any verdict in it. Never a search for words.
 *
 * @param finishReason as the server gives it: a reply cut by the limit on tokens says so.
 * @example readVerdict(equivalence, '{"reason": "same", "verdict": "correct"}', "stop").verdict // "correct"
 */
export function readVerdict(
  { verdicts }: JudgePrompt,
  text: string,
  finishReason: string | null,
): ReadVerdict {
  // A reason may quote the tag that ends thoughts.
  const whole = withoutFence(text).trim();
  const bare = parsed(whole) === undefined ? withoutFence(withoutThoughts(text)).trim() : whole;
  const failed = (problem: VerdictProblem): ReadVerdict => ({
    verdict: null,
    problem: finishReason === "length" ? "cut" : problem,
  });
  if (bare === "") return failed("empty");
  const value = parsed(bare);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return failed("not-json");
  }
  // JSON.parse keeps the last of two equal keys and says nothing.
  if ((bare.match(/(?<!\\)"verdict"\s*:/g) ?? []).length > 1) return failed("two-verdicts");
  const { verdict, reason } = value as { verdict?: unknown; reason?: unknown };
  const given = typeof verdict === "number" ? String(verdict) : verdict;
  const known = verdicts.find((allowed) => allowed === given);
  if (known === undefined) return failed("no-verdict");
  return { verdict: known, reason: typeof reason === "string" ? reason : "", problem: null };
}

/** Undefined for what is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Reasoning models think aloud before they reply, some without the opening tag, which their template wrote. */
function withoutThoughts(text: string): string {
  const end = /^\s*(?:<think>)?[^]*?<\/think>/.exec(text);
  return end === null ? text : text.slice(end[0].length);
}

function withoutFence(text: string): string {
  return /^\s*```(?:json)?\s*\n([^]*?)\n\s*```\s*$/.exec(text)?.[1] ?? text;
}

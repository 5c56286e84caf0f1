import { scriptedPolicy, type TokenPolicy } from "../../src/rollout/policy.ts";
import type { Tokenizer } from "../../src/text/tokenizer.ts";
import { tokenizer } from "./search-world.ts";

/**
 * A policy that writes by how what it is shown ends: the first of the endings that fits decides. Where there are several messages
 * for an ending, they are written one after another, the last one from then on. Shown any other ending it writes nothing.
 */
export function promptedPolicy(
  messages: readonly (readonly [ending: RegExp, ...messages: string[]])[],
  using: Tokenizer = tokenizer,
): TokenPolicy {
  const left = messages.map(([ending, ...texts]) => ({ ending, texts }));
  return scriptedPolicy(using, ({ promptIds }) => {
    const prompt = using.decode([...promptIds]);
    const fitting = left.find(({ ending }) => ending.test(prompt));
    if (fitting === undefined) return "";
    return (fitting.texts.length > 1 ? fitting.texts.shift() : fitting.texts[0]) ?? "";
  });
}

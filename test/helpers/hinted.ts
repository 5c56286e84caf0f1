import { scriptedPolicy, type TokenPolicy } from "../../src/rollout/policy.ts";
import type { RolloutOptions } from "../../src/rollout/record.ts";
import { strategies } from "../../src/rollout/strategies/index.ts";
import type { Tokenizer } from "../../src/text/tokenizer.ts";
import type { Trajectory } from "../../src/trajectory/trajectory.ts";
import { rolloutOptions, searchEnvironment, tokenizer } from "./search-world.ts";

/** A policy that writes these texts in turn, one each time it is asked; log-probabilities number its tokens from -1 downwards. */
function continuing(texts: readonly string[], using: Tokenizer = tokenizer): TokenPolicy {
  let asked = 0;
  let token = 0;
  const policy = scriptedPolicy(using, () => texts[asked++] ?? "");
  return {
    ...policy,
    async complete(request) {
      const result = await policy.complete(request);
      return { ...result, logprobs: result.ids.map(() => -++token) };
    },
  };
}

/** Plays three turns under hints, as `hint-infer` names them. */
export function playHinted(
  texts: readonly string[],
  hints: readonly (string | object)[],
  changes: Partial<RolloutOptions> = {},
): Promise<Trajectory> {
  const budgets = [{ scope: "trajectory", unit: "turns", limit: 3, onExhausted: "end" }];
  const environment = searchEnvironment({ budgets });
  const policy = continuing(texts);
  const options = rolloutOptions({ policy, environment, purpose: "eval", ...changes });
  return strategies.get("hint-infer", "test").run(options, { hints });
}

import { protocols } from "../env/protocols/index.ts";
import type { CompletionRequest } from "../rollout/policy.ts";
import type { Behaviour } from "./teachers/behaviour.ts";
import { briefPlan } from "./teachers/brief-plan.ts";

export { behaviourSchema } from "./teachers/behaviour.ts";

/** Writes the messages of a gold-chain teacher's brief style in search-r1's tags, for a policy of tokens. */
export function goldChainWriter(
  behaviour: Behaviour,
  seed: number,
): (request: CompletionRequest) => string {
  const protocol = protocols.get("search-r1", "gold-chain").create({});
  return ({ task, turns }) => protocol.write(briefPlan({ task, turns }, behaviour, seed), []);
}

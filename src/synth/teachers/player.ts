import { ConfigError } from "../../base/errors.ts";
import { random } from "../../base/random.ts";
import type { Environment } from "../../env/environments/environment.ts";
import type { TextPolicy } from "../../rollout/policy.ts";
import { scriptedText } from "../../rollout/scripted-text.ts";
import { textAfter } from "./planned-text.ts";

/**
 * A teacher that plays as an environment's own player does: well-formed messages without skill. What learns from it starts reinforcement
 * with the grammar and with chance.
 *
 * @throws {ConfigError} TEACHER_CANNOT_PLAY where the environment has no player, or a strategy asks with prompts of its own.
 */
export function playerPolicy({ name, player, toolSchemas }: Environment): TextPolicy {
  if (player === undefined) throw cannotPlay(`the environment "${name}" has no player`);
  const tools = toolSchemas.map((tool) => tool.function.name);
  return scriptedText((place) => {
    if (place.ownPrompt) throw cannotPlay("the strategy asks with prompts of its own");
    const turns = place.turns.filter(({ chain }) => chain === undefined);
    const draw = random(place.seed).derive("player", turns.length);
    return textAfter(place.prefill, player({ task: place.task, turns, tools }, draw), place);
  });
}

function cannotPlay(why: string): ConfigError {
  return new ConfigError(
    "TEACHER_CANNOT_PLAY",
    `teacher player: ${why}. Choose another teacher, or strategy: agent in an environment with a player (frozen-lake, tool-qa).`,
  );
}

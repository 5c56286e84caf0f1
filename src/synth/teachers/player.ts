import { ConfigError } from "../../base/errors.ts";
import { random } from "../../base/random.ts";
import { defineTeacher } from "../../env/teacher.ts";
import { textAfter } from "../../env/planned-text.ts";

/**
 * A teacher that plays as an environment's own player does: well-formed messages without skill. What learns from it starts reinforcement
 * with the grammar and with chance.
 *
 * @throws {ConfigError} TEACHER_CANNOT_PLAY where the environment has no player, or a strategy asks with prompts of its own.
 */
export const player = defineTeacher({
  name: "player",
  summary: "Plays at random, by the environment's own player.",
  open(_, { name, player, toolSchemas }) {
    if (player === undefined) throw cannotPlay(`the environment "${name}" has no player`);
    const tools = toolSchemas.map((tool) => tool.function.name);
    return (place) => {
      if (place.ownPrompt) throw cannotPlay("the strategy asks with prompts of its own");
      const turns = place.turns.filter(({ chain }) => chain === undefined);
      const draw = random(place.seed).derive("player", turns.length);
      return textAfter(place.prefill, player({ task: place.task, turns, tools }, draw), place);
    };
  },
});

function cannotPlay(why: string): ConfigError {
  return new ConfigError(
    "TEACHER_CANNOT_PLAY",
    `teacher player: ${why}. Choose another teacher, or strategy: agent in an environment with a player, such as tool-qa.`,
  );
}

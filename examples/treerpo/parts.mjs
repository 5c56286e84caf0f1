// TreeRPO's tree of segments of a fixed number of tokens, and a measurement of its own. See treerpo.yaml.
import { defineMetric, defineStrategy, playWritten, rollOut, rollOutTree, z } from "agentrl";

/**
 * Writes one segment, whose length is the budget of a turn. A message that ends there is played.
 * @param {import("agentrl").Play} game
 * @param {import("agentrl").Standing} standing
 */
async function writeSegment(game, standing) {
  const { dialogue, inputs, prefill } = standing;
  const message = await dialogue.write(inputs, game.signal);
  if (message === null) return "context-limit";
  const text = prefill + message.text;
  if (game.trajectory.calls[message.call].finish === "length") {
    // The next segment continues this message.
    Object.assign(standing, { inputs: [], prefill: text });
    return null;
  }
  const place = { options: game, trajectory: game.trajectory, ...standing, final: false };
  const { result } = await playWritten(place, { text, call: message.call });
  return result.end ?? "no-answer";
}

export default [
  defineStrategy({
    name: "token-tree",
    summary:
      "In training a message branches every so many tokens (the budget of a turn); each leaf is a trajectory.",
    source:
      "TreeRPO, arXiv 2506.05183. Different here: a leaf that is unfinished after the last branch gets one more segment",
    prompts: "grows",
    searches: false,
    options: z.strictObject({ width: z.int().min(2).default(8), depth: z.int().min(1).default(3) }),
    leaves: ({ width, depth }) => width ** depth,
    run: (options) => rollOut(options),
    runAll: (options, shape) => rollOutTree(options, { ...shape, play: writeSegment }),
  }),
  defineMetric({
    name: "written-steps",
    summary: "Equations that the policy wrote.",
    range: [0, Infinity],
    score: ({ trajectory }) =>
      trajectory.turns.reduce((sum, { text }) => sum + text.split("=").length - 1, 0),
  }),
];

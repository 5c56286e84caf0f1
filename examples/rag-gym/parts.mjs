// RAG-Gym's step critic, its process reward and the critic's agreement with it. See rag-gym.yaml.
import {
  defineMetric,
  defineReward,
  defineStrategy,
  playMessage,
  rollOut,
  roleName,
  seedFrom,
  z,
} from "agentrl";

/**
 * Passages of the gold chain that a turn showed and none of these turns before it did.
 * @param {import("agentrl").Turn} turn
 * @param {readonly import("agentrl").Turn[]} before
 * @param {import("agentrl").Task} task
 */
function newGold(turn, before, { annotations: { supportingPassages = [] } }) {
  const shown = (turns) =>
    turns.flatMap(({ observations }) => observations.flatMap(({ passageIds = [] }) => passageIds));
  const known = new Set(shown(before));
  return new Set(shown([turn]).filter((id) => supportingPassages.includes(id) && !known.has(id)))
    .size;
}

/** @param {import("agentrl").Turn} turn */
const isMain = ({ chain }) => chain === undefined;

/**
 * Draws several messages on forks of the episode, and goes on with the one that the critic finds likeliest.
 * @param {import("agentrl").TurnPlace} place
 */
async function playBest(place, { candidates, critic }) {
  const { options, trajectory, turn } = place;
  const role = options.roles?.get(critic, "strategy.critic");
  const first = trajectory.turns.length;
  const tried = [];
  // A kept sequence takes a place of the engine that the candidates need.
  place.dialogue.end();
  for (let k = 0; k < candidates; k++) {
    const id = `${options.id}~${turn}.${k}`;
    const dialogue = place.dialogue.fork({
      id,
      seed: seedFrom(options.seed, "candidate", turn, k),
    });
    const own = { ...place, dialogue, episode: place.episode.fork() };
    try {
      const played = await playMessage(own, `candidate-${k + 1}`);
      if (played === null) return null;
      tried.push(played);
    } finally {
      dialogue.end();
    }
  }
  const turns = trajectory.turns.slice(first);
  const state = [
    options.task.question,
    ...trajectory.turns.filter(isMain).map((each) => each.text),
  ];
  const scores = await Promise.all(
    turns.map(async ({ text }) => {
      const logprobs = await role?.logprobs(`${state.join("\n")}\n`, text, options.signal);
      return logprobs?.length ? logprobs.reduce((a, b) => a + b, 0) / logprobs.length : -Infinity;
    }),
  );
  const best = scores.indexOf(Math.max(...scores));
  for (const each of turns) each.dropped = true;
  delete turns[best].dropped;
  delete turns[best].chain;
  return tried[best];
}

export default [
  defineStrategy({
    name: "critic-actions",
    summary: "At each turn the likeliest of several messages by a critic.",
    source: "RAG-Gym, arXiv 2502.13957: best of N at every step",
    prompts: "grows",
    searches: true,
    options: z.strictObject({ candidates: z.int().min(2).default(10), critic: roleName() }),
    run: (options, settings) =>
      rollOut(
        { ...options, sampling: { ...options.sampling, temperature: 1 } },
        { playTurn: (place) => playBest(place, settings) },
      ),
  }),
  defineReward({
    name: "useful-search",
    summary: "For each turn 1 if its search showed a gold passage for the first time, else 0.",
    source: "RAG-Gym, arXiv 2502.13957: utility and redundancy, by gold instead of GPT-4o",
    range: [0, 1],
    placed: true,
    score: ({ trajectory, task }) => {
      const main = trajectory.turns.filter(isMain);
      return trajectory.turns.flatMap((each, turn) => {
        if (!isMain(each) || each.observations.length === 0) return [];
        const before = main.slice(0, main.indexOf(each));
        return [{ turn, value: Number(newGold(each, before, task) > 0) }];
      });
    },
  }),
  defineMetric({
    name: "critic-agreement",
    summary: "Share of the critic's choices that no other candidate beats by new gold passages.",
    score: ({ trajectory, task }) => {
      const main = trajectory.turns.filter(isMain);
      const candidates = trajectory.turns.length / Math.max(1, main.length);
      if (candidates < 2) return null;
      const agreed = main.filter((chosen, i) => {
        const tried = trajectory.turns.slice(i * candidates, (i + 1) * candidates);
        const before = main.slice(0, i);
        const most = Math.max(...tried.map((each) => newGold(each, before, task)));
        return newGold(chosen, before, task) === most;
      });
      return agreed.length / main.length;
    },
  }),
];

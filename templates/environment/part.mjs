import { defineEnvironment, protocols, random, z } from "agentrl";

/** @type {import("agentrl").ToolSchema} */
const GUESS = {
  type: "function",
  function: {
    name: "guess",
    description: "Guesses the number.",
    parameters: {
      type: "object",
      properties: { number: { type: "string" } },
      required: ["number"],
    },
  },
};

export default defineEnvironment({
  name: "guess-number",
  summary: "Guess a number; the reply says higher or lower.",
  options: z.strictObject({ max: z.int().min(2).default(20) }),
  // Texts that become one token each in a fresh policy.
  words: [" higher", " lower"],
  // Its own tasks, for `dataset: { name: environment }`. Splits must share no task.
  *tasks({ max }, { split, seed }) {
    const draw = random(seed).derive("guess-number", split);
    for (let i = 0; ; i++) {
      const number = draw.derive(i).int(max) + 1;
      const question = `Guess a number from 1 to ${max}.`;
      const annotations = { type: String(number) };
      yield { id: `${split}-${i}`, question, references: [], source: "guess-number", annotations };
    }
  },
  create() {
    const protocol = protocols
      .get("tags", "guess-number")
      .create({}, { tools: [GUESS], answers: false });
    return {
      protocol,
      toolSchemas: [GUESS],
      // The environment says how an episode ends; no answer is extracted.
      answers: false,
      // Plays at random, to pre-train a fresh policy (synth.teacher: player).
      player: (_, draw) => ({
        thought: "",
        action: { tool: "guess", input: String(draw.int(20) + 1) },
      }),
      start: (task) => episode(task, protocol),
    };
  },
});

/**
 * @param {import("agentrl").Task} task
 * @param {import("agentrl").Protocol} protocol
 * @returns {import("agentrl").Episode}
 */
function episode(task, protocol) {
  return {
    prompt: `${task.question}\n`,
    // No state beside the task, so a fork is the same episode.
    fork: () => episode(task, protocol),
    async step(message, { final }) {
      const { actions, problems } = protocol.parse(message);
      const nothing = { actions, problems, observations: [], reward: 0 };
      if (final) return { ...nothing, reply: null, end: "turn-limit" };
      const [action] = actions;
      if (action === undefined)
        return { ...nothing, reply: protocol.renderProblems(problems), end: null };
      const guess = Number(action.input);
      const number = Number(task.annotations.type);
      if (guess === number) return { ...nothing, reward: 1, reply: null, end: "done" };
      const observations = [{ tool: "guess", text: guess < number ? "higher" : "lower" }];
      const reply = protocol.renderObservations(observations);
      return { ...nothing, observations, reply, end: null };
    },
  };
}

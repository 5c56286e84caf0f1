import { partSchema } from "../../base/define-part.ts";
import { random } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import { splitOf } from "../../base/split.ts";
import {
  type Episode,
  type Player,
  type StepResult,
  defineEnvironment,
} from "../../env/environments/environment.ts";
import { protocols } from "../../env/protocols/index.ts";
import type { Protocol } from "../../env/protocols/protocol.ts";
import { defineWorld } from "../../env/world.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Observation } from "../../trajectory/trajectory.ts";

const round = z.strictObject({
  /** What each arm pays, from arm 1. A round with one arm has nothing to decide. */
  pays: z.array(z.number()).min(1),
  /** Standard deviation of what is added by luck, whatever arm is pulled. */
  luck: z.number().min(0).default(0),
});

/** Two arms, of which the second pays. */
const ONE_ROUND = [{ pays: [0, 1], luck: 0 }];

const options = z.strictObject({
  protocol: partSchema(protocols).prefault("tags"),
  /** One message each, in order. */
  rounds: z.array(round).min(1).prefault(ONE_ROUND),
});

type Settings = z.output<typeof options>;

const SCHEMA = {
  type: "function",
  function: {
    name: "action",
    description: "Pulls an arm, by its number.",
    parameters: { type: "object", properties: { arm: { type: "string" } }, required: ["arm"] },
  },
} as const;

const player: Player = ({ task, turns }, draw) => {
  const shown = turns.at(-1)?.observations.at(-1)?.text ?? task.question;
  const arms = shown.slice(shown.indexOf(":") + 1).trim();
  return { thought: "", action: { tool: "action", input: draw.pick(arms.split(" ")) } };
};

/** The game. */
export const banditEnvironment = defineEnvironment({
  name: "bandit",
  summary: "Slot machines in rounds, whose arms and luck pay at once.",
  options,
  example: {
    task: taskOf(0, { rounds: ONE_ROUND }),
    // No such arm: the episode stays where it is.
    act: "<action> 3</action>",
    last: "<action> 2</action>",
    end: "done",
  },
  tasks: function* (settings, { split, seed }) {
    const first = random(seed).int(1_000_000);
    for (let number = first; ; number++) {
      const task = taskOf(number, settings);
      if (splitOf(task.id) === split) yield task;
    }
  },
  create(settings) {
    const { name, ...protocolOptions } = settings.protocol;
    const protocol = protocols
      .get(name, "environment.protocol")
      .create(protocolOptions, { tools: [SCHEMA], answers: false });
    return {
      protocol,
      player,
      answers: false,
      toolSchemas: [SCHEMA],
      start: (task, { seed }) =>
        startEpisode({ settings, protocol, prompt: `${task.question}\n`, seed }, 0),
    };
  },
});

/**
 * A row of slot machines: in each round the policy pulls an arm, and the arm and luck pay at once, unseen. It tells what a method credits:
 * where one round decides and others pay by luck, a method that credits every message with the sum learns from noise.
 * Source: the bandit of RAGEN (arXiv 2504.20073) and the umbrella chain of bsuite (arXiv 1908.03568). Different here: several rounds, and
 * the deciding one pays at once.
 */
export const bandit = defineWorld({
  name: "bandit",
  summary: "Slot machines in rounds, whose arms and luck pay at once.",
  environments: [banditEnvironment],
});

type Machines = { settings: Settings; protocol: Protocol; prompt: string; seed: number };

function startEpisode(machines: Machines, from: number): Episode {
  const { settings, protocol, prompt } = machines;
  let now = from;
  return {
    prompt,
    fork: () => startEpisode(machines, now),
    step(message, { final, signal }) {
      return Promise.resolve().then((): StepResult => {
        signal.throwIfAborted();
        const { actions, problems } = protocol.parse(message);
        const nothing = { actions, problems, observations: [], reward: 0 };
        if (final) return { ...nothing, reply: null, end: "turn-limit" };
        const [action] = actions;
        if (action === undefined)
          return { ...nothing, reply: protocol.renderProblems(problems), end: null };
        const pulled = paymentOf(machines, now, action.input);
        if (pulled !== null) now += 1;
        const isOver = now === settings.rounds.length;
        const observation: Observation = { tool: action.tool, text: armsOf(settings, now) };
        if (pulled === null) {
          const message = `"${action.input}" is no arm: expected one of ${observation.text}`;
          observation.problem = { code: "no-such-arm", message };
        }
        return {
          actions,
          problems,
          observations: [observation],
          reward: pulled ?? 0,
          reply: isOver ? null : protocol.renderObservations([observation]),
          end: isOver ? "done" : null,
        };
      });
    },
  };
}

function paymentOf({ settings, seed }: Machines, at: number, arm: string): number | null {
  const { pays, luck } = settings.rounds[at] ?? { pays: [], luck: 0 };
  const paid = pays.find((_, i) => String(i + 1) === arm);
  return paid === undefined ? null : paid + luck * random(seed).derive("luck", at).normal();
}

/** The arms of a round: "1 2 3"; none after the last. */
function armsOf({ rounds }: Pick<Settings, "rounds">, at: number): string {
  return (rounds[at]?.pays ?? []).map((_, arm) => arm + 1).join(" ");
}

function taskOf(number: number, settings: Pick<Settings, "rounds">): Task {
  return {
    id: `bandit-${number}`,
    question: `Machine ${number}: ${armsOf(settings, 0)}`,
    references: [],
    source: "bandit",
    annotations: {},
  };
}

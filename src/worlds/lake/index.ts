import { partSchema } from "../../base/define-part.ts";
import { ConfigError } from "../../base/errors.ts";
import { type Random, random } from "../../base/random.ts";
import { quote, z } from "../../base/schema.ts";
import { splitOf } from "../../base/split.ts";
import {
  type Episode,
  type Player,
  type StepResult,
  type TaskDraw,
  defineEnvironment,
} from "../../env/environments/environment.ts";
import { protocols } from "../../env/protocols/index.ts";
import type { Protocol } from "../../env/protocols/protocol.ts";
import { defineWorld } from "../../env/world.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Observation } from "../../trajectory/trajectory.ts";

const options = z.strictObject({
  protocol: partSchema(protocols).prefault("tags"),
  /** The first message to the policy: {question} is the map, {instructions} the protocol's grammar. */
  prompt: z.string().default("{question}\n"),
  /** Rows and columns of the maps. */
  size: z.int().min(2).max(16).default(4),
  /** Share of the squares that are holes, as far as a path to the goal is left. */
  holes: z.number().min(0).max(0.8).default(0.2),
  /** Probability that the player slips: the move goes to one of its two sides. */
  slip: z.number().min(0).max(1).default(0),
  /** Moves in one message. Moves after the end of the episode are dropped. */
  movesPerTurn: z.int().min(1).default(1),
  /** Rewrites each message to the moves that were made, so that the policy neither reads nor learns the others (RAGEN). */
  canonical: z.boolean().default(false),
});

type Settings = z.output<typeof options>;

const MOVES = { up: [-1, 0], right: [0, 1], down: [1, 0], left: [0, -1] } as const;
type Move = keyof typeof MOVES;
const NAMES = Object.keys(MOVES) as Move[];

const SCHEMA = {
  type: "function",
  function: {
    name: "move",
    description: `Moves the player P: ${NAMES.join(", ")}; several with spaces between them.`,
    parameters: {
      type: "object",
      properties: { direction: { type: "string" } },
      required: ["direction"],
    },
  },
} as const;

const player: Player = ({ task, turns }, draw) => {
  const shown = turns.at(-1)?.observations.at(-1)?.text ?? task.question;
  const grid = gridOf(shown);
  const at = placeOf(grid, "P");
  const legal = NAMES.filter((move) => squareAt(grid, moved(at, move)) !== undefined);
  return { thought: "", action: { tool: "move", input: draw.pick(legal) } };
};

/** The game. */
export const lake = defineEnvironment({
  name: "frozen-lake",
  summary: "A grid of ice and holes, walked over in text to a goal.",
  options,
  words: NAMES.map((name) => ` ${name}`),
  example: {
    task: taskOf("PG.\n...\n...", "example"),
    act: "<move> up</move>",
    last: "<move> right</move>",
    end: "done",
  },
  tasks: drawnTasks,
  create(settings, { budgets = [] }) {
    const { name, ...protocolOptions } = settings.protocol;
    const protocol = protocols
      .get(name, "environment.protocol")
      .create(protocolOptions, { tools: [SCHEMA], answers: false });
    const filled = { instructions: protocol.instructions([SCHEMA]) };
    return {
      name: "frozen-lake",
      protocol,
      budgets,
      player,
      answers: false,
      readsGold: false,
      toolSchemas: [SCHEMA],
      start(task, { seed }) {
        const known = { ...filled, question: task.question };
        const prompt = settings.prompt.replace(
          /\{(question|instructions)\}/g,
          (_, key: keyof typeof known) => known[key],
        );
        const lake = { settings, protocol, prompt, slips: random(seed).derive("slip") };
        const grid = gridOf(task.question);
        return startEpisode(lake, {
          grid: grid.map((row) => row.map((sign) => (sign === "P" ? "." : sign))),
          at: placeOf(grid, "P"),
          moves: 0,
        });
      },
    };
  },
});

/**
 * A frozen lake: the player P walks over ice (.) to the goal G and falls into holes (O). Reaching the goal pays 1, all else 0.
 * Source: FrozenLake of Gymnasium, as RAGEN (arXiv 2504.20073) plays it in text. Different here: maps are drawn for each task, a slip is
 * an option (there 2/3), and a move off the map is a problem of its message.
 */
export const frozenLake = defineWorld({
  name: "frozen-lake",
  summary: "A grid of ice and holes, walked over in text to a goal.",
  environments: [lake],
  bases: ["players"],
});

type Lake = { settings: Settings; protocol: Protocol; prompt: string; slips: Random };

type Place = { grid: Grid; at: Square; moves: number };

type Grid = readonly (readonly string[])[];
type Square = readonly [row: number, column: number];

function startEpisode(lake: Lake, from: Place): Episode {
  const { protocol, prompt, settings } = lake;
  let place = from;
  return {
    prompt,
    fork: () => startEpisode(lake, place),
    step(message, { final, signal }) {
      return Promise.resolve().then((): StepResult => {
        signal.throwIfAborted();
        const { actions, problems } = protocol.parse(message);
        const nothing = { actions, problems, observations: [], reward: 0 };
        if (final) return { ...nothing, reply: null, end: "turn-limit", status: "limit" };
        const [action] = actions;
        if (action === undefined) {
          const reply = protocol.renderProblems(problems);
          return { ...nothing, reply, end: null, status: "ice" };
        }
        const wanted = action.input.split(/[\s,]+/).slice(0, settings.movesPerTurn);
        const found = walked(lake, place, wanted);
        place = found.place;
        const { status } = found;
        const observation: Observation = {
          tool: action.tool,
          text: rendered(place),
          data: { status },
          problem: found.problem,
        };
        const ended = status !== "ice";
        return {
          actions,
          problems,
          observations: [observation],
          status,
          canonical: settings.canonical
            ? withMoves(message, action.input, wanted.slice(0, found.made))
            : undefined,
          reward: status === "goal" ? 1 : 0,
          reply: ended ? null : protocol.renderObservations([observation]),
          end: ended ? "done" : null,
        };
      });
    },
  };
}

function withMoves(message: string, input: string, moves: readonly string[]): string {
  const at = message.lastIndexOf(input);
  return message.slice(0, at) + moves.join(" ") + message.slice(at + input.length);
}

interface Walked {
  place: Place;
  made: number;
  status: "ice" | "hole" | "goal";
  problem?: { code: string; message: string };
}

function walked(lake: Lake, from: Place, wanted: readonly string[]): Walked {
  let place = from;
  for (const [made, name] of wanted.entries()) {
    const move = NAMES.find((each) => each === name);
    const message = `"${name}" is no move: expected ${NAMES.join(", ")}`;
    if (move === undefined)
      return { place, made, status: "ice", problem: { code: "bad-move", message } };
    const at = moved(place.at, slipped(lake, move, place.moves));
    const square = squareAt(place.grid, at);
    place = { ...place, moves: place.moves + 1 };
    if (square === undefined) {
      const problem = { code: "off-the-map", message: `${name} leads off the map` };
      return { place, made, status: "ice", problem };
    }
    place = { ...place, at };
    if (square === "G" || square === "O")
      return { place, made: made + 1, status: square === "G" ? "goal" : "hole" };
  }
  return { place, made: wanted.length, status: "ice" };
}

function slipped({ settings: { slip }, slips }: Lake, move: Move, number: number): Move {
  const draw = slips.derive(number);
  if (slip === 0 || draw.next() >= slip) return move;
  const turn = draw.next() < 0.5 ? 1 : NAMES.length - 1;
  return NAMES[(NAMES.indexOf(move) + turn) % NAMES.length] ?? move;
}

/** Draws without a map of the split, after which there is taken to be none. */
const MOST_DRAWS = 2000;

/** Maps of a split, without an end; those of a small lake come again. @throws {ConfigError} RECIPE_BAD_VALUE when the split has no map. */
function* drawnTasks(settings: Settings, { split, seed }: TaskDraw): Generator<Task> {
  let number = 0;
  for (let draw = 0, missed = 0; missed < MOST_DRAWS; draw++) {
    const map = drawnMap(random(seed).derive("frozen-lake", draw), settings);
    missed = splitOf(map) === split ? 0 : missed + 1;
    if (missed === 0) yield taskOf(map, `frozen-lake-${split}-${number++}`);
  }
  const message = `environment: lakes of size ${settings.size} with holes ${settings.holes} are so few that the split ${quote(split)} has none. Choose a larger size, or holes nearer to 0.5.`;
  throw new ConfigError("RECIPE_BAD_VALUE", message);
}

function taskOf(map: string, id: string): Task {
  return { id, question: map, references: [], source: "frozen-lake", annotations: {} };
}

function drawnMap(draw: Random, { size, holes }: Pick<Settings, "size" | "holes">): string {
  const squares = Array.from({ length: size * size }, () => ".");
  const wanted = Math.round(holes * squares.length);
  const free = draw.shuffle(squares.map((_, i) => i).slice(1, -1));
  let dug = 0;
  for (const i of free) {
    if (dug === wanted) break;
    squares[i] = "O";
    if (hasPath(squares, size)) dug += 1;
    else squares[i] = ".";
  }
  squares[0] = "P";
  squares[squares.length - 1] = "G";
  const rows = Array.from({ length: size }, (_, row) =>
    squares.slice(row * size, (row + 1) * size).join(""),
  );
  return rows.join("\n");
}

function hasPath(squares: readonly string[], size: number): boolean {
  const grid = Array.from({ length: size }, (_, row) =>
    squares.slice(row * size, (row + 1) * size),
  );
  const seen = new Set(["0,0"]);
  const open: Square[] = [[0, 0]];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const next of NAMES.map((move) => moved(at, move))) {
      const square = squareAt(grid, next);
      if (square === undefined || square === "O" || seen.has(next.join())) continue;
      seen.add(next.join());
      open.push(next);
    }
  }
  return seen.has([size - 1, size - 1].join());
}

function gridOf(text: string): Grid {
  return text.split("\n").map((row) => Array.from(row));
}

function placeOf(grid: Grid, sign: string): Square {
  const row = grid.findIndex((each) => each.includes(sign));
  return [Math.max(0, row), Math.max(0, grid[row]?.indexOf(sign) ?? 0)];
}

function rendered({ grid, at: [row, column] }: Place): string {
  return grid
    .map((signs, r) => signs.map((sign, c) => (r === row && c === column ? "P" : sign)).join(""))
    .join("\n");
}

function squareAt(grid: Grid, [row, column]: Square): string | undefined {
  return grid[row]?.[column];
}

function moved([row, column]: Square, move: Move): Square {
  const [down, right] = MOVES[move];
  return [row + down, column + right];
}

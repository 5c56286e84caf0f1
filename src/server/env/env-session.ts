import { randomUUID } from "node:crypto";
import type { Episodes, Played } from "../../run/episodes.ts";
import { type AwaitedTurn, awaitedText } from "../../rollout/awaited-text.ts";
import type { Tokenizer } from "../../text/tokenizer.ts";
import type { Trajectory, Turn } from "../../trajectory/trajectory.ts";
import { EnvError, type ObservationData, type ResetData } from "./env-messages.ts";
import { type Exchange, startExchange } from "./exchange.ts";

/** The name of the only split: the recipe's training questions. */
export const SPLIT = "train";

/** What all sessions of a server share. */
export interface SessionWorld {
  episodes: Episodes;
  tokenizer: Tokenizer | null;
  /** Seed of a reset that names none: 0, 1, … over the whole server. */
  nextSeed: () => number;
}

/** One client's place: an episode at a time. */
export interface EnvSession {
  /** @throws {EnvError} VALIDATION_ERROR when no question is meant. */
  reset(data: ResetData): Promise<ObservationData>;
  /** @throws {EnvError} EXECUTION_ERROR outside of an episode. */
  step(message: string): Promise<ObservationData>;
  state(): object;
  /** Ends the episode, if one is under way. */
  close(): void;
}

/** An episode whose messages the client writes. */
type Playing = Exchange<AwaitedTurn, string, Played>;
type Event = Awaited<ReturnType<Playing["next"]>>;

/** An episode under way. */
interface Game {
  id: string;
  seed: number;
  taskId: string;
  steps: number;
  /** Rewards of steps, already given. */
  paid: number;
  turns: readonly Turn[];
  playing: Playing;
  /** The message that is awaited; null once it is over. */
  now: Extract<Event, { kind: "asked" }> | null;
}

export function openEnvSession(world: SessionWorld): EnvSession {
  let game: Game | null = null;
  const stop = (): void => {
    game?.playing.stop();
    game = null;
  };
  return {
    async reset(data) {
      const chosen = chooseTask(world, data);
      stop();
      const begun = startGame(world, chosen, data.episode_id ?? randomUUID());
      game = begun;
      return toData(world, begun, await nextOf(begun), []);
    },
    async step(message) {
      if (game === null || game.now === null) {
        const why = game === null ? "No episode is under way" : "The episode is over";
        throw new EnvError("EXECUTION_ERROR", `${why}. Send reset first.`);
      }
      const { now, turns } = game;
      requireShort(message, now.question.maxTokens);
      const played = turns.length;
      game.steps += 1;
      game.now = null;
      now.answer(message);
      const event = await nextOf(game);
      return toData(world, game, event, game.turns.slice(played));
    },
    state: () => ({
      episode_id: game?.id ?? null,
      step_count: game?.steps ?? 0,
      done: game !== null && game.now === null,
      task_id: game?.taskId ?? null,
      seed: game?.seed ?? null,
    }),
    close: stop,
  };
}

/** Characters of a message, at least and for each token of its budget: no model writes more, and reading it would hold up all others. */
const LEAST_CHARACTERS = 2 ** 15;
const TOKEN_CHARACTERS = 32;

/** @throws {EnvError} VALIDATION_ERROR */
function requireShort(message: string, maxTokens: number): void {
  const most = Math.max(LEAST_CHARACTERS, TOKEN_CHARACTERS * maxTokens);
  if (message.length <= most) return;
  throw new EnvError(
    "VALIDATION_ERROR",
    `message has ${message.length} characters; its budget is ${maxTokens} tokens, and at most ${most} characters are read.`,
  );
}

interface Chosen {
  task: Episodes["tasks"][number];
  seed: number;
}

/**
 * The question of a reset. A seed means question number seed mod the number of questions, so that the seeds 0, 1, … visit every question
 * once; an index wins over it.
 */
function chooseTask({ episodes: { tasks }, nextSeed }: SessionWorld, data: ResetData): Chosen {
  const { split, index } = data;
  if (typeof split === "string" && split !== SPLIT)
    throw new EnvError(
      "VALIDATION_ERROR",
      `split "${split}" is unknown; the only one is "${SPLIT}".`,
    );
  const seed = data.seed ?? index ?? nextSeed();
  const task = tasks[index ?? seed % tasks.length];
  if (task !== undefined) return { task, seed };
  const last = tasks.length - 1;
  throw new EnvError(
    "VALIDATION_ERROR",
    `index ${index ?? seed} is not a question; the last is ${last}.`,
  );
}

function startGame(
  { episodes, tokenizer }: SessionWorld,
  { task, seed }: Chosen,
  id: string,
): Game {
  const game: Game = {
    id,
    seed,
    taskId: task.id,
    steps: 0,
    paid: 0,
    turns: [],
    now: null,
    playing: startExchange(async (ask, signal) => {
      const onTurn = ({ turns }: Trajectory): void => {
        game.turns = [...turns];
      };
      const policy = awaitedText(ask, tokenizer);
      const played = await episodes.play({ policy, task, seed, id, signal, onTurn });
      game.turns = played.trajectory.turns;
      return played;
    }),
  };
  return game;
}

async function nextOf(game: Game): Promise<Event> {
  const event = await game.playing.next();
  game.now = event.kind === "asked" ? event : null;
  return event;
}

function toData(
  world: SessionWorld,
  game: Game,
  event: Event,
  played: readonly Turn[],
): ObservationData {
  if (event.kind === "failed") throw event.error;
  const facts = played.length === 0 ? {} : turnFacts(played);
  if (event.kind === "end") return endData(game, event.result, facts);
  const { conversation, opens, stop, maxTokens, tools } = event.question;
  const own = played.reduce((sum, { reward = 0 }) => sum + reward, 0) * world.episodes.stepWeight;
  game.paid += own;
  const opening = opens
    ? {
        messages: conversation,
        stop,
        max_tokens: maxTokens,
        tools: tools.length === 0 ? undefined : tools,
      }
    : {};
  const about = game.steps === 0 ? { task_id: game.taskId, seed: game.seed } : {};
  return {
    observation: { text: conversation.at(-1)?.content ?? "" },
    reward: game.steps === 0 ? null : own,
    done: false,
    metadata: { ...about, ...facts, ...opening },
  };
}

/** Codes of what was wrong with messages, the environment's words for its state, its own rewards. */
function turnFacts(played: readonly Turn[]): object {
  const problems = played.flatMap((turn) => turn.problems.map(({ code }) => code));
  const rewards = played.flatMap(({ reward }) => (reward === undefined ? [] : [reward]));
  const status = played.at(-1)?.status;
  return {
    problems: problems.length === 0 ? undefined : problems,
    step_reward: rewards.length === 0 ? undefined : rewards.reduce((sum, each) => sum + each, 0),
    status,
  };
}

/** The last step's reward is the rest of the recipe's: the rewards of all steps sum to it. */
function endData(game: Game, { trajectory, unscored }: Played, facts: object): ObservationData {
  const { reward, rewards, end, answer, error } = trajectory;
  return {
    observation: { text: "" },
    reward: reward === null ? null : reward - game.paid,
    done: true,
    metadata: {
      ...facts,
      total_reward: reward,
      rewards: rewards.map(({ name, value }) => ({ name, value })),
      end,
      answer,
      turns: trajectory.turns.length,
      error,
      unscored: unscored.length === 0 ? undefined : unscored,
    },
  };
}

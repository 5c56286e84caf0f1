import { randomUUID } from "node:crypto";
import { playedSequences } from "../../algorithms/played-sequences.ts";
import { z } from "../../base/schema.ts";
import { weightedRewards } from "../../run/assemble.ts";
import type { Episodes, Played } from "../../run/episodes.ts";
import type { PlayedEpisodes, PlayWorld } from "../../run/play-world.ts";
import { type AwaitedSample, awaitedTokens } from "../../rollout/awaited-tokens.ts";
import { weightsAt } from "../../rollout/score.ts";
import { EnvError, parsed } from "./env-messages.ts";
import { type Exchange, startExchange } from "./exchange.ts";

const playMessage = z.strictObject({
  split: z.enum(["train", "validation"]).default("train"),
  index: z.int().min(0),
  /** Of the environment's draws; the index when absent. */
  seed: z.int().min(0).optional(),
  /** Training steps that are done, for schedules of rewards and budgets. */
  step: z.int().min(0).optional(),
  /** Tokens of the longest sequence that the client takes. */
  max_positions: z.int().min(2),
});

const sampledMessage = z
  .strictObject({ ids: z.array(z.int().min(0)), logprobs: z.array(z.number()) })
  .refine(({ ids, logprobs }) => ids.length === logprobs.length, {
    message: "expected as many log-probabilities as ids",
  });

type Sampled = z.output<typeof sampledMessage>;
type Playing = Exchange<AwaitedSample, Sampled, { played: Played; of: Episodes }>;

/** One client's place: episodes one after another, whose tokens the client samples. */
export interface PlaySession {
  /** @param data of a message `play`. @throws {EnvError} VALIDATION_ERROR. */
  play(data: unknown): Promise<object>;
  /** @param data of a message `sampled`. @throws {EnvError} VALIDATION_ERROR, EXECUTION_ERROR outside of an episode. */
  sampled(data: unknown): Promise<object>;
  close(): void;
}

export function openPlaySession(world: PlayWorld): PlaySession {
  let playing: Playing | null = null;
  let asked: { maxTokens: number; answer: (sampled: Sampled) => void } | null = null;
  let step: number | undefined;
  /** The tokens that the client has. */
  let known: readonly number[] = [];
  const next = async (of: Playing): Promise<object> => {
    const event = await of.next();
    asked = null;
    if (event.kind === "failed") throw event.error;
    if (event.kind === "end") return { type: "episode", data: episodeData(event.result, step) };
    const { promptIds, maxTokens, stopIds, stopStrings } = event.question;
    const keep = sharedStart(known, promptIds);
    known = promptIds;
    asked = { maxTokens, answer: event.answer };
    const data = { keep, ids: promptIds.slice(keep), max_tokens: maxTokens, stop: stopStrings };
    return { type: "sample", data: { ...data, stop_ids: stopIds } };
  };
  const stop = (): void => {
    playing?.stop();
    [playing, asked, known] = [null, null, []];
  };
  return {
    async play(data) {
      const wanted = parsed(playMessage, data ?? {});
      const { of, task } = await chosen(world, wanted);
      stop();
      const { seed = wanted.index, max_positions: maxPositions } = wanted;
      ({ step } = wanted);
      playing = startExchange(async (ask, signal) => {
        const policy = awaitedTokens(ask, {
          tokenizer: world.tokenizer,
          rendering: of.rendering,
          maxPositions,
        });
        const request = { policy, task, seed, id: randomUUID(), signal, step };
        return { played: await of.episodes.play(request), of: of.episodes };
      });
      return next(playing);
    },
    async sampled(data) {
      const given = parsed(sampledMessage, data);
      if (playing === null || asked === null)
        throw new EnvError("EXECUTION_ERROR", "No tokens are awaited. Send play first.");
      const { maxTokens, answer } = asked;
      if (given.ids.length > maxTokens)
        throw new EnvError(
          "VALIDATION_ERROR",
          `${given.ids.length} ids were sampled; at most ${maxTokens} were asked for.`,
        );
      known = [...known, ...given.ids];
      answer(given);
      return next(playing);
    },
    close: stop,
  };
}

/** @throws {EnvError} VALIDATION_ERROR */
async function chosen(
  world: PlayWorld,
  { split, index }: z.output<typeof playMessage>,
): Promise<{ of: PlayedEpisodes; task: Episodes["tasks"][number] }> {
  let at = index;
  for (const of of await world.split(split)) {
    const task = of.episodes.tasks[at];
    if (task !== undefined) return { of, task };
    at -= of.episodes.tasks.length;
  }
  throw new EnvError(
    "VALIDATION_ERROR",
    `index ${index} is not a question of ${split}; the last is ${index - at - 1}.`,
  );
}

function sharedStart(known: readonly number[], ids: readonly number[]): number {
  const end = Math.min(known.length, ids.length);
  for (let i = 0; i < end; i++) if (known[i] !== ids[i]) return i;
  return end;
}

/** @param step for the weights of rewards that have a schedule. */
function episodeData(
  {
    played: { trajectory, unscored },
    of: { settings, totalSteps },
  }: { played: Played; of: Episodes },
  step = 0,
): object {
  const { reward, rewards, end, error, turns } = trajectory;
  const weights = weightsAt(weightedRewards(settings), { step, totalSteps });
  const named = new Map<string, number | null>();
  for (const { name, value } of rewards) {
    const before = named.get(name);
    named.set(name, before === undefined || before === null ? value : before + (value ?? 0));
  }
  return {
    sequences: reward === null ? [] : playedSequences(trajectory, weights),
    reward,
    rewards: Object.fromEntries(named),
    end,
    turns: turns.length,
    error,
    unscored: unscored.length === 0 ? undefined : unscored,
  };
}

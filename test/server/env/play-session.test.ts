import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { seedFrom } from "../../../src/base/random.ts";
import { policyRows } from "../../../src/algorithms/training-rows.ts";
import { openEpisodes } from "../../../src/run/episodes.ts";
import { openPlayWorld } from "../../../src/run/play-world.ts";
import { SHIPPED_POLICIES } from "../../../src/run/bases.ts";
import { resolveRecipe } from "../../../src/run/settings/resolve-recipe.ts";
import { rollOut } from "../../../src/rollout/roll-out.ts";
import { scriptedPolicy } from "../../../src/rollout/policy.ts";
import { loadTokenizer, type Tokenizer } from "../../../src/text/tokenizer.ts";
import type { PlayedSequence } from "../../../src/algorithms/played-sequences.ts";
import { connectEnv, type EnvClient, serveRecipeEnv } from "../../helpers/served-env.ts";

const folder = [...SHIPPED_POLICIES.values()][0] ?? "";
let tokenizer: Tokenizer;
beforeAll(async () => {
  tokenizer = await loadTokenizer(folder);
});

interface Sample {
  keep: number;
  ids: number[];
  max_tokens: number;
  stop: string[];
  stop_ids: number[];
}

interface Episode {
  sequences: PlayedSequence[];
  reward: number | null;
  rewards: Record<string, number | null>;
  end: string;
  turns: number;
}

/** A server whose episodes are played over /play. */
async function playServer(overrides: Record<string, unknown> = {}) {
  const set = Object.entries(overrides).map(([key, value]) => ({ key, value, origin: "test" }));
  const { settings } = await resolveRecipe("search-r1", { tier: "smoke", overrides: set });
  const episodes = await openEpisodes(settings);
  const play = openPlayWorld(episodes, { folder, tokenizer });
  const { server } = await serveRecipeEnv("search-r1", { play }, set);
  onTestFinished(async () => {
    await play.close();
    await episodes.close();
  });
  const client = await connectEnv(server.url, {}, "/play");
  return { client, episodes, settings };
}

/** Plays messages, the last one again and again; returns the sequences that were asked for and the episode. */
async function played(
  client: EnvClient,
  asked: object,
  messages: readonly string[],
): Promise<{ samples: Sample[]; episode: Episode }> {
  const samples: Sample[] = [];
  let reply = await client.ask("play", { max_positions: 4096, ...asked });
  while (reply.type === "sample") {
    const sample = reply.data as unknown as Sample;
    const text = messages[samples.length] ?? messages.at(-1) ?? "";
    samples.push(sample);
    const ids = tokenizer.encode(text).slice(0, sample.max_tokens);
    reply = await client.ask("sampled", { ids, logprobs: ids.map((_, i) => -0.25 * i) });
  }
  expect(reply, JSON.stringify(reply)).toMatchObject({ type: "episode" });
  return { samples, episode: reply.data as unknown as Episode };
}

describe("an episode whose tokens the client samples", () => {
  it("is the rollout of training: the same tokens, mask and reward", async () => {
    const { client, episodes, settings } = await playServer();
    const task = episodes.tasks[3]!;
    const gold = `<answer> ${task.references[0]}</answer>`;
    const messages = [`<search> ${task.question}</search> and more`, "I do not know.", gold];
    const { samples, episode } = await played(client, { index: 3 }, messages);
    const trajectory = await rollOut({
      policy: scriptedPolicy(tokenizer, ({ turns }) => messages[turns.length] ?? gold),
      environment: episodes.environment,
      task,
      id: "here",
      groupId: "here",
      purpose: "train",
      seed: seedFrom(settings.seed, "episode", 3),
      sampling: settings.sampling,
      signal: new AbortController().signal,
    });
    const [row, ...others] = policyRows(trajectory);
    const [sequence, ...more] = episode.sequences;
    expect([others, more]).toEqual([[], []]);
    const { prompt, response, mask, logprobs, rewards } = sequence!;
    // A script ends its messages with the end token, which this client does not.
    const text = (ids: readonly number[]): string => tokenizer.decode([...ids]);
    const here = [row!.inputs[0]!, ...row!.targets].filter((id) => !tokenizer.endIds.includes(id));
    expect(text([...prompt, ...response])).toBe(text(here));
    const trained = response.filter((_, i) => mask[i] === 1);
    expect(text(trained)).toBe(`<search> ${task.question}</search>I do not know.${gold}`);
    expect(logprobs.filter((_, i) => mask[i] === 0).every((each) => each === 0)).toBe(true);
    expect(logprobs[1]).toBe(-0.25);
    expect(rewards.at(-1)).toBe(1);
    expect(rewards.slice(0, -1).every((each) => each === 0)).toBe(true);
    expect(episode).toMatchObject({ reward: 1, rewards: { "exact-match": 1 }, turns: 3 });
    // What the client has is not sent again.
    const [first, second] = samples;
    expect(first).toMatchObject({ keep: 0, stop: ["</search>"], stop_ids: tokenizer.endIds });
    expect(first!.ids).toEqual(prompt);
    expect(second!.keep).toBeGreaterThan(prompt.length);
  });

  it("puts rewards of turns at the last token of their turn", async () => {
    const rewards = [
      { name: "exact-match", as: "em", weight: 1 },
      { name: "tool-count", as: "price", cumulative: false, weight: -0.25 },
    ];
    const { client, episodes } = await playServer({ rewards });
    const task = episodes.tasks[0]!;
    const messages = [
      `<search> ${task.question}</search>`,
      `<answer> ${task.references[0]}</answer>`,
    ];
    const { episode } = await played(client, { index: 0 }, messages);
    const { response, mask, rewards: earned } = episode.sequences[0]!;
    const searchEnd = tokenizer.encode(messages[0]!).length - 1;
    expect(mask[searchEnd]).toBe(1);
    expect(mask[searchEnd + 1]).toBe(0);
    expect(earned.flatMap((value, i) => (value === 0 ? [] : [[i, value]]))).toEqual([
      [searchEnd, -0.25],
      [response.length - 1, 1],
    ]);
    expect(episode.reward).toBeCloseTo(0.75, 12);
  });

  it("counts the questions of validation over the evaluation and its sets, with their own budgets", async () => {
    const dataset = { name: "tinyworld", split: "test", people: 60, questions: 5 };
    const budgets = [
      { scope: "trajectory", unit: "turns", limit: 1, onExhausted: "final-turn" },
      { scope: "turn", unit: "tokens", limit: 7, onExhausted: "cut" },
    ];
    const { client, settings } = await playServer({
      "evaluation.sets": { more: { dataset, budgets } },
      rewards: [{ name: "query-keywords", as: "key" }],
    });
    const own = (settings.evaluation.dataset as unknown as { questions: number }).questions;
    const question = async (index: number) =>
      played(client, { split: "validation", index }, ["<answer> no</answer>"]);
    expect((await question(own - 1)).samples[0]?.max_tokens).toBe(48);
    const { samples, episode } = await question(own);
    expect(samples[0]?.max_tokens).toBe(7);
    // Rewards of training may need annotations that test questions lack.
    expect(episode.rewards).toEqual({ em: 0, f1: 0 });
    expect(
      await client.ask("play", { split: "validation", index: own + 5, max_positions: 99 }),
    ).toMatchObject({
      type: "error",
      data: {
        message: `index ${own + 5} is not a question of validation; the last is ${own + 4}.`,
      },
    });
  });

  it("refuses what is no answer, and the session goes on", async () => {
    const { client } = await playServer();
    const refused = async (type: string, data: object) => {
      const { data: told } = await client.ask(type, data);
      return told.message;
    };
    expect(await refused("sampled", { ids: [], logprobs: [] })).toBe(
      "No tokens are awaited. Send play first.",
    );
    expect(await refused("play", { index: 0 })).toMatch(/max_positions/);
    expect(await refused("play", { index: 0, split: "test", max_positions: 99 })).toMatch(/split/);
    await client.ask("play", { index: 0, max_positions: 4096 });
    expect(await refused("sampled", { ids: [1, 2], logprobs: [0] })).toMatch(/as many log-prob/);
    const many = Array.from({ length: 49 }, () => 5);
    expect(await refused("sampled", { ids: many, logprobs: many })).toBe(
      "49 ids were sampled; at most 48 were asked for.",
    );
    const { episode } = await played(client, { index: 0 }, ["<answer> no</answer>"]);
    expect(episode).toMatchObject({ reward: 0, end: "answered" });
  });
});

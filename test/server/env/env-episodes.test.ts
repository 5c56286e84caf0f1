import { describe, expect, it } from "vitest";
import { seedFrom } from "../../../src/base/random.ts";
import { expressionOf, weightedRewards } from "../../../src/run/assemble.ts";
import type { Episodes } from "../../../src/run/episodes.ts";
import type { Settings } from "../../../src/run/settings/settings-schema.ts";
import { rollOut } from "../../../src/rollout/roll-out.ts";
import { scriptedText } from "../../../src/rollout/scripted-text.ts";
import { scoreTrajectories } from "../../../src/rollout/score.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { connectEnv, type EnvReply, serveRecipeEnv } from "../../helpers/served-env.ts";

/** Plays messages until the episode ends; the last one is repeated. */
async function playOver(
  url: string,
  seed: number,
  messages: readonly string[],
): Promise<EnvReply[]> {
  const client = await connectEnv(url);
  const replies = [await client.ask("reset", { seed })];
  for (let i = 0; replies.at(-1)?.data.done === false && i < 50; i++) {
    replies.push(await client.ask("step", { message: messages[i] ?? messages.at(-1) }));
  }
  client.socket.close();
  return replies;
}

/** The same messages by the rollout of training, without the server's policy. */
async function playHere(
  { environment }: Episodes,
  settings: Settings,
  { task, seed, messages }: { task: Task; seed: number; messages: readonly string[] },
): Promise<Trajectory> {
  const script = scriptedText(({ turns }) => messages[turns.length] ?? messages.at(-1) ?? "");
  // A client writes whole messages, as a server does.
  const policy = { ...script, takesPrefill: false };
  const trajectory = await rollOut({
    policy,
    environment,
    task,
    id: "here",
    groupId: "here",
    purpose: "train",
    seed: seedFrom(settings.seed, "episode", seed),
    sampling: settings.sampling,
    signal: new AbortController().signal,
  });
  await scoreTrajectories([{ trajectory, task }], weightedRewards(settings), {
    expression: expressionOf(settings),
  });
  return trajectory;
}

const total = (replies: readonly EnvReply[]): number =>
  replies.reduce((sum, { data }) => sum + (data.reward ?? 0), 0);

/** Scripts for the question of a seed: a good one, wrong ones, and one that never answers. */
type Scripts = (task: Task) => string[][];

const tagged: Scripts = ({ question, references: [gold = ""] }) => [
  [`<search>${question}</search>`, `<answer>${gold}</answer>`],
  [`<search>${question}</search>`, "<answer>nobody</answer>"],
  ["I do not know."],
];
const json: Scripts = ({ question, references: [gold = ""] }) => {
  const call = JSON.stringify({ name: "search", arguments: { query: question } });
  return [
    [
      `<think>\nlook\n</think>\n<tool_call>${call}</tool_call>`,
      `<think>\nso\n</think>\n<answer>${gold}</answer>`,
    ],
    [`<tool_call>${call}</tool_call>`, `<answer>${gold}</answer>`],
    ["<tool_call>{broken</tool_call>"],
  ];
};
const moves: Scripts = ({ question }) => [
  wayToGoal(question).map((way) => `<move> ${way}</move>`),
  ["<move> down</move>", "<move> right</move>"],
  ["<move> sideways</move>"],
];

/** The shortest way from P to G on a map, around its holes. */
function wayToGoal(map: string): string[] {
  const rows = map.trim().split("\n");
  const width = rows[0]!.length;
  const squares = rows.join("");
  const steps = { up: [-1, 0], down: [1, 0], left: [0, -1], right: [0, 1] } as const;
  const ways = new Map<number, string[]>([[squares.indexOf("P"), []]]);
  for (const [at, way] of ways) {
    if (squares[at] === "G") return way;
    for (const [name, [down, right]] of Object.entries(steps)) {
      const [row, column] = [Math.floor(at / width) + down, (at % width) + right];
      const next = row * width + column;
      const isOn = row >= 0 && row < rows.length && column >= 0 && column < width;
      if (isOn && squares[next] !== "O" && !ways.has(next)) ways.set(next, [...way, name]);
    }
  }
  throw new Error(`no way on ${map}`);
}

describe("episodes over a WebSocket", () => {
  it.each([
    ["search-r1", tagged],
    ["agent-r1", json],
    ["frozen-lake", moves],
  ] as const)(
    "of %s: replies and reward are those of a rollout with the same messages",
    async (recipe, scripts) => {
      const { server, episodes, settings } = await serveRecipeEnv(recipe);
      const rewards = new Set<number>();
      for (const seed of [0, 1, 2, 5, 17]) {
        const task = episodes.tasks[seed % episodes.tasks.length]!;
        for (const messages of scripts(task)) {
          const replies = await playOver(server.url, seed, messages);
          const here = await playHere(episodes, settings, { task, seed, messages });
          const last = replies.at(-1)!.data;
          expect(last.done).toBe(true);
          expect(last.metadata).toMatchObject({
            total_reward: here.reward,
            end: here.end,
            answer: here.answer,
            rewards: here.rewards.map(({ name, value }) => ({ name, value })),
            turns: here.turns.length,
          });
          expect(total(replies)).toBeCloseTo(here.reward!, 12);
          rewards.add(here.reward!);
          // What the client reads: the prompt, then each reply.
          const shown = here.calls.map(({ prompt }) => prompt.map(({ text }) => text).join(""));
          expect(replies.slice(0, -1).map(({ data }) => data.observation?.text)).toEqual(shown);
        }
      }
      // The comparison tells good play from bad.
      expect(rewards.size).toBeGreaterThan(1);
    },
  );

  it("pay an environment's own step rewards as they come, and sum to the recipe's", async () => {
    const half = { key: "rewards", value: [{ name: "environment", weight: 0.5 }], origin: "--set" };
    const { server, episodes } = await serveRecipeEnv("frozen-lake", {}, [half]);
    expect(episodes.stepWeight).toBe(0.5);
    for (let seed = 0; seed < 20; seed++) {
      const replies = await playOver(server.url, seed, moves(episodes.tasks[seed]!)[seed % 2]!);
      expect(total(replies)).toBe(replies.at(-1)!.data.metadata!["total_reward"]);
    }
  });

  it("begin with a conversation, its stop strings and budget; every seed is the same question again", async () => {
    const { server, episodes } = await serveRecipeEnv("search-r1");
    const client = await connectEnv(server.url);
    const first = await client.ask("reset", { seed: 3, episode_id: "mine" });
    const { text } = first.data.observation!;
    expect(first.data).toEqual({
      observation: { text },
      reward: null,
      done: false,
      metadata: {
        task_id: episodes.tasks[3]!.id,
        seed: 3,
        stop: ["</search>"],
        max_tokens: 48,
        messages: [{ role: "user", content: text }],
      },
    });
    expect(text).toContain(episodes.tasks[3]!.question);
    expect(await client.ask("state")).toEqual({
      type: "state",
      data: {
        episode_id: "mine",
        step_count: 0,
        done: false,
        task_id: episodes.tasks[3]!.id,
        seed: 3,
      },
    });
    const again = await client.ask("reset", { seed: 3 + episodes.tasks.length });
    expect(again.data.observation).toEqual(first.data.observation);
    const byIndex = await client.ask("reset", { split: "train", index: 4 });
    expect(byIndex.data.metadata).toMatchObject({ task_id: episodes.tasks[4]!.id });
  });

  it("offer tools that the prompt leaves to a chat template", async () => {
    const native = { key: "environment.protocol.calls", value: "native", origin: "--set" };
    const chat = { key: "policy.chat", value: {}, origin: "--set" };
    const { server } = await serveRecipeEnv("agent-r1", {}, [native, chat]);
    const [first] = await playOver(server.url, 0, ["<answer>x</answer>"]);
    expect(first?.data.metadata?.["tools"]).toMatchObject([{ function: { name: "search" } }]);
  });
});

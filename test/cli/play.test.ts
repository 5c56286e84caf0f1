import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Trajectory } from "../../src/trajectory/trajectory.ts";
import { runCli } from "../helpers/run-cli.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const cwd = temporaryFolder();
const LAKE = ["frozen-lake", "--tier", "smoke"];
// Task 0:  P...  ..OO  ....  O..G
const WAY = ["down", "down", "right", "right", "down", "right"];

const play = (args: readonly string[], lines: readonly string[]) =>
  runCli(["play", ...args], { cwd, input: lines.map((line) => `${line}\n`).join("") });

function gamesIn(folder: string): Trajectory[] {
  const lines = readFileSync(join(cwd, folder, "games.jsonl"), "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => JSON.parse(line) as Trajectory);
}

describe("agentrl play", () => {
  it("plays an episode by commands, shows what the policy reads, and records it", async () => {
    const { stdout, stderr, status } = await play(
      [...LAKE, "--out", "lake"],
      WAY.map((move) => `/move ${move}`),
    );
    expect(status).toBe(0);
    expect(stderr).toContain("Budgets: 10 turns (end) · turn 8 tokens (cut)");
    expect(stderr).toContain("template     | O..G");
    expect(stderr).toContain("environment  | P.OO");
    expect(stderr).toContain("policy       | <move> down</move>");
    expect(stdout).toMatch(/Reward +1 · 6 at their messages/);
    expect(stdout).toContain("agentrl trace show lake/games.jsonl\n");
    const [game] = gamesIn("lake");
    expect(game).toMatchObject({ id: "frozen-lake-train-0/0", purpose: "train", end: "done" });
    expect(game?.reward).toBe(1);
    // Counted by the tokenizer that the recipe's fresh policy gets: the tags are tokens.
    expect(game?.calls[0]?.usage?.completionTokens).toBe(3);
    const lint = await runCli(["trace", "lint", "lake/games.jsonl", "--json"], { cwd });
    expect(JSON.parse(lint.stdout)).toMatchObject({ checked: 1, violations: [] });
    expect((await runCli(["runs", "list", "."], { cwd })).stdout).toContain("no runs");
  });

  it("adds games of the same settings, which replay message by message", async () => {
    const [first] = gamesIn("lake");
    const messages = first!.turns.map(({ text }) => text);
    const { stdout } = await play([...LAKE, "--out", "lake"], messages);
    expect(stdout).toContain("lake/games.jsonl --index 1\n");
    const [, again] = gamesIn("lake");
    expect(again).toEqual({ ...first, id: "frozen-lake-train-0/1", groupId: again?.groupId });
  });

  it("keeps what was played before /quit, unscored", async () => {
    const { stdout, status } = await play(
      [...LAKE, "--out", "quit", "--json"],
      ["/move down", "/quit", "/move right"],
    );
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      task: "frozen-lake-train-0",
      end: "cancelled",
      error: { code: "EPISODE_QUIT" },
      reward: null,
      file: "quit/games.jsonl",
    });
    expect(gamesIn("quit")[0]?.turns).toHaveLength(1);
    const lint = await runCli(["trace", "lint", "quit/games.jsonl"], { cwd });
    expect(lint.status).toBe(0);
  });

  it("records nothing without a message", async () => {
    const { stdout, status } = await play([...LAKE, "--out", "none"], []);
    expect([status, existsSync(join(cwd, "none"))]).toEqual([0, false]);
    expect(stdout).toMatch(/Recorded +nothing/);
  });

  it("says what is wrong with a message, and what a budget cut of it", async () => {
    const { stderr } = await play(
      [...LAKE, "--out", "wrong"],
      ["/jump", "hello", "", "/move everywhere", "/quit"],
    );
    expect(stderr).toContain('"/jump" is no command. Known: /move, /send, /help, /quit.');
    expect(stderr).toContain("problem      | no-action:");
    expect(stderr).toMatch(/cut +\| to "<move> every/);
    expect(gamesIn("wrong")[0]?.turns.map(({ text }) => text)[0]).toBe("hello");
  });

  it("sends a message of several lines, and scores the answer by the recipe's rewards", async () => {
    const { stdout, stderr } = await play(
      ["search-r1", "--tier", "smoke", "--task", "tinyworld-train-7-0"],
      ["I look", "it up.", "/search Garik Rosgard", "/answer Oslo"],
    );
    expect(stderr).toContain("search-r1 smoke · training task 0 of 16 · tinyworld-train-7-0");
    expect(stderr).toContain("Doc 1(Title: Garik Rosgard)");
    expect(stdout).toMatch(/Reward +0 · exact-match 0/);
    expect(stdout).toMatch(/Reference +\S/);
    const [game] = gamesIn("runs/search-r1-smoke-seed1-play");
    expect(game?.turns.map(({ text }) => text)).toEqual([
      "I look\nit up.\n<search> Garik Rosgard</search>",
      "<answer> Oslo</answer>",
    ]);
    expect(game).toMatchObject({ answer: "Oslo", end: "answered" });
    const segments = game!.calls.flatMap(({ completion }) => completion);
    expect(segments.map(({ ids, logprobs }) => [ids, logprobs])).toEqual([
      [[], null],
      [[], null],
    ]);
  });

  it("asks for the messages of a strategy one by one, and for a hint's continuation", async () => {
    const strategy = (yaml: string) => [
      ...["search-r1", "--tier", "smoke", "--out", `as-${yaml.length}`],
      ...["--set", `strategy=${yaml}`],
    ];
    const votes = await play(strategy("{ name: self-consistency, draws: 3 }"), ["/answer Oslo"]);
    expect(votes.stderr.match(/── Message/g)).toHaveLength(2);
    expect(votes.stdout).toMatch(/End +cancelled/);
    const hints = await play(strategy("hint-infer"), ["/answer Oslo", "/answer Bergen"]);
    expect(hints.stderr).toMatch(/── Message 1 continues · .*\ninserted .*\npolicy .*Bergen/);
    expect(hints.stdout).toMatch(/Answer +Bergen/);
  });

  it("takes another folder for other settings, unless one is named", async () => {
    const other = [...LAKE, "--set", "environment.slip=0.5"];
    await play([...LAKE, "--evaluation"], ["/move down"]);
    await play(other, ["/move down"]);
    expect(gamesIn("runs/frozen-lake-smoke-seed1-play")[0]?.purpose).toBe("eval");
    expect(gamesIn("runs/frozen-lake-smoke-seed1-play-2")[0]?.purpose).toBe("train");
    const { stderr, status } = await play([...other, "--out", "lake"], ["/move down"]);
    expect([status, stderr]).toEqual([2, expect.stringContaining("[OUTPUT_EXISTS]")]);
  });

  it("names the tasks that there are", async () => {
    const missed = await play([...LAKE, "--index", "64"], []);
    expect(missed.stderr).toContain("numbered from 0 to 63. [USAGE]");
    const unknown = await play([...LAKE, "--task", "frozen-lake-train-99"], []);
    expect(unknown.stderr).toMatch(/such as "frozen-lake-train-\d+".*\[USAGE\]/);
    expect([missed.status, unknown.status]).toEqual([2, 2]);
  });
});

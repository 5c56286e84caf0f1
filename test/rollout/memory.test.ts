import { describe, expect, it } from "vitest";
import { type OnPolicyOptions, lossesOf } from "../../src/algorithms/algorithm.ts";
import { readyRows } from "../../src/algorithms/batch-rows.ts";
import { grpo } from "../../src/algorithms/grpo.ts";
import { algorithms } from "../../src/algorithms/index.ts";
import { partSchema } from "../../src/base/define-part.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { rollOut } from "../../src/rollout/roll-out.ts";
import type { Trajectory } from "../../src/trajectory/trajectory.ts";
import { errorWith } from "../helpers/error-with.ts";
import { replay, rolloutOptions, searchEnvironment, tokenizer } from "../helpers/search-world.ts";
import "../helpers/all-parts.ts";

const FIRST = "<search> capital Norway</search>";
const SECOND = "<memory> Oslo</memory><search> rain</search>";
const ANSWER = "<memory> Oslo rain</memory><answer> Oslo</answer>";
const ASKED = "Question: What is the capital of Norway?\n";
const OSLO = "<result> Doc 1(Title: Oslo) Oslo is the capital of Norway.\n</result>\n";
const BERGEN =
  "<result> Doc 1(Title: Bergen) Bergen is a city in Norway with much rain.\n</result>\n";

const protocol = { name: "tags", blocks: ["memory"] };
const play = (messages: readonly string[], options: object = {}): Promise<Trajectory> => {
  const environment = searchEnvironment({ protocol, reissue: "memory", ...options });
  return rollOut(rolloutOptions({ policy: replay(messages), environment }));
};

const promptsOf = ({ calls }: Trajectory): string[] =>
  calls.map(({ prompt }) => tokenizer.decode(prompt.flatMap(({ ids }) => ids)));

describe("an environment with a memory", () => {
  it("shows the question, the last message and its results, and nothing from before", async () => {
    const trajectory = await play([FIRST, SECOND, ANSWER]);
    expect(promptsOf(trajectory)).toEqual([
      ASKED,
      `${ASKED}${FIRST}\n${OSLO}`,
      `${ASKED}${SECOND}\n${BERGEN}`,
    ]);
    expect(trajectory.calls.map(({ parent }) => parent)).toEqual([null, null, null]);
    expect(trajectory).toMatchObject({ end: "answered", answer: "Oslo" });
  });

  it("shows a message without an action with its correction", async () => {
    const [, second] = promptsOf(await play(["<memory> the</memory>", ANSWER]));
    expect(second).toMatch(
      /^Question: .*\n<memory> the<\/memory>\nThat message had no valid action/,
    );
  });

  it("cuts a reply to the budget of observations, as in one growing text", async () => {
    const budgets = [{ scope: "observation", unit: "tokens", limit: 5, onExhausted: "cut" }];
    const trajectory = await play([FIRST, ANSWER], { budgets });
    const cut = tokenizer.decode(tokenizer.encode(`\n${OSLO}`).slice(0, 5));
    expect(promptsOf(trajectory)[1]).toBe(`${ASKED}${FIRST}${cut}`);
    expect(trajectory.turns[0]?.observations[0]?.cut).toBe(true);
  });

  it("is refused where messages hold only an action", () => {
    const bare = { name: "tags", thoughts: false };
    expect(() => searchEnvironment({ protocol: bare, reissue: "memory" })).toThrow(
      errorWith("RECIPE_BAD_VALUE", "environment.protocol.blocks to [memory]"),
    );
    expect(() => searchEnvironment({ protocol: "search-r1", reissue: "memory" })).not.toThrow();
  });
});

describe("training with a memory", () => {
  const rowsOf = async (given: object) => {
    const played = [await play([FIRST, SECOND, ANSWER]), await play([FIRST, ANSWER])];
    const batch = played.map((each, i) => ({ ...each, id: String(i), reward: 1 - i }));
    const algorithm = partSchema(algorithms).parse({ name: "grpo", klCoef: 0, ...given });
    const options = algorithm as unknown as OnPolicyOptions;
    const run = { algorithm: grpo, options, engine: {} as Engine, rewards: [], seed: 1 };
    const losses = lossesOf(grpo, options);
    return (await readyRows(run, 0, batch, { losses, critic: null })).rows;
  };

  it("gives all messages of a trajectory its advantage", async () => {
    const rows = await rowsOf({ scale: "none" });
    const advantages = rows.map((row) => [...new Set(row.advantages.filter((each) => each !== 0))]);
    // Rewards 1 and 0: each is .5 from their mean.
    expect(advantages).toEqual([[0.5], [0.5], [0.5], [-0.5], [-0.5]]);
  });
});

import { describe, expect, it } from "vitest";
import { retrievalHit } from "../../src/rewards/retrieval-hit.ts";
import { rollOut } from "../../src/rollout/roll-out.ts";
import { scoreWith } from "../helpers/reward-context.ts";
import { answered, replay, rolloutOptions, task } from "../helpers/search-world.ts";

/** What a policy that writes these messages is given on "What is the capital of Norway?". */
async function scoreWithOptions(
  options: Record<string, unknown>,
  messages: string[],
): Promise<unknown> {
  const trajectory = await rollOut(rolloutOptions({ policy: replay(messages) }), { maxTurns: 2 });
  const [score] = await scoreWith(retrievalHit, [{ trajectory, task }], options);
  return score;
}

const scoreOf = (...messages: string[]) => scoreWithOptions({}, messages);
const firstScoreOf = (...messages: string[]) => scoreWithOptions({ first: true }, messages);

describe("retrieval-hit", () => {
  it("is 1 where a search showed a reference, whatever is answered after it", async () => {
    expect(await scoreOf("<search>capital Norway</search>", "<answer>Lima</answer>")).toBe(1);
    expect(await scoreOf("<search>capital Norway</search>", "I forgot.")).toBe(1);
  });

  it("is 0 for searches that show something else, and for a right answer without a search", async () => {
    expect(await scoreOf("<search>Lima</search>", "<answer>Oslo</answer>")).toBe(0);
    expect(await scoreOf("<answer>Oslo</answer>")).toBe(0);
  });

  it("looks at the first search alone where it is told to", async () => {
    const [miss, hit] = ["<search>Lima</search>", "<search>capital Norway</search>"];
    expect(await firstScoreOf(hit, miss, "<answer>Oslo</answer>")).toBe(1);
    expect(await firstScoreOf(miss, hit, "<answer>Oslo</answer>")).toBe(0);
    expect(await scoreOf(miss, hit, "<answer>Oslo</answer>")).toBe(1);
  });

  it("gives each turn with a search its own value, by option", async () => {
    const [miss, hit] = ["<search>Lima</search>", "<search>capital Norway</search>"];
    const answer = "<answer>Oslo</answer>";
    const turns = [
      { turn: 0, value: 0 },
      { turn: 1, value: 1 },
    ];
    expect(await scoreWithOptions({ per: "turn" }, [miss, hit])).toEqual(turns);
    expect(await scoreWithOptions({ per: "turn" }, [hit, answer])).toEqual([{ turn: 0, value: 1 }]);
    expect(await scoreWithOptions({ per: "turn" }, [answer])).toEqual([]);
  });

  it("reads the policy's own blocks instead where they are named, as one text", async () => {
    const refined = (...texts: string[]): Promise<unknown[]> => {
      const observations = [{ tool: "search", text: "The capital is Oslo." }];
      const turns = texts.map((text, call) => ({
        call,
        text,
        observations,
        actions: [],
        problems: [],
      }));
      const trajectory = answered("Lima", { turns });
      return scoreWith(retrievalHit, [{ trajectory, task }], { block: "refine" });
    };
    expect(await refined("<refine> it is Oslo</refine><answer>Lima</answer>")).toEqual([1]);
    expect(await refined("<refine>unknown</refine>", "<refine>oslo</refine>")).toEqual([1]);
    expect(await refined("<refine> not that</refine><answer>Oslo</answer>")).toEqual([0]);
    expect(await refined("<refine> Oslo<answer>Lima</answer>")).toEqual([0]);
  });
});

import { describe, expect, it } from "vitest";
import {
  backtracking,
  calculation,
  verification,
} from "../../../src/evaluate/metrics/behaviours.ts";
import type { MeasuredDraw } from "../../../src/evaluate/metrics/metric.ts";
import type { Turn } from "../../../src/trajectory/trajectory.ts";
import { answered, task } from "../../helpers/search-world.ts";
import { madeRow } from "../../helpers/evaluation-rows.ts";

const turn = (text: string, chain?: string): Turn => {
  return { call: 0, text, actions: [], problems: [], observations: [], chain };
};

/** How often each behaviour is in the messages. */
async function counted(...turns: Turn[]): Promise<(number | null)[]> {
  const trajectory = answered("7", { turns });
  const draw: MeasuredDraw = { trajectory, task, row: madeRow("q", 1) };
  const scores = [verification, backtracking, calculation].map(async (metric) => {
    const { score } = metric as unknown as {
      score: (draws: readonly MeasuredDraw[], options: object, context: object) => Promise<(number | null)[]>; // prettier-ignore
    };
    return (await score([draw], {}, {}))[0] ?? null;
  });
  return Promise.all(scores);
}

describe("behaviours of reasoning", () => {
  it("are counted in a solution of the number world", async () => {
    const solution =
      "<think> 3 + 4 = 7. Check: 3 + 4 = 8. No, it is 8. Wait. 8 * 2 = 16. Check: 8 * 2 = 16. Right. Wait, I think it is 17.</think><answer> 17</answer>";
    // Two checks; a denial and two waits; four equations.
    expect(await counted(turn(solution))).toEqual([2, 3, 4]);
  });

  it("are counted in the words of other models, over all messages", async () => {
    const first = turn("Let me verify this. Wait, that is wrong. Alternatively, x = -3.");
    const second = turn("Double-check it, and re-check: I made a mistake, so I try again.");
    expect(await counted(first, second)).toEqual([3, 5, 1]);
  });

  it("are none in a plain answer, in longer words, and in branches that were dropped", async () => {
    const plain = turn("The waiter has a checkerboard and no answer.");
    expect(await counted(plain, turn("Check: 1 = 1. Wait.", "draft"))).toEqual([0, 0, 0]);
  });

  it("count a word of another sense too", async () => {
    expect(await counted(turn("The check is 20 dollars."))).toEqual([1, 0, 0]);
  });
});

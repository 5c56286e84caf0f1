import { describe, expect, it } from "vitest";
import type { PlainAdvantage, Rewarded } from "../../src/advantages/estimator.ts";
import { advantageEstimators } from "../../src/advantages/index.ts";
import { random } from "../../src/base/random.ts";
import { rewarded } from "../helpers/rewarded.ts";

/** Groups of one to six in mixed order, some unscorable, one group wholly so. */
function batch(): Rewarded[] {
  const draw = random("advantages");
  const groups = Array.from({ length: 6 }, (_, g) =>
    Array.from({ length: g + 1 }, (_, i): Rewarded => {
      const reward = g === 4 || draw.next() < 0.2 ? null : draw.normal();
      const perCall = [1 + draw.int(5), 1 + draw.int(3)];
      return rewarded({ groupId: `g${g}`, reward, perCall, isBaseline: i === 0 });
    }),
  );
  return draw.shuffle(groups.flat());
}

/** Options without a default. */
const OPTIONS: Readonly<Record<string, object>> = { "sign-flip": { by: "sign" } };

const parts = advantageEstimators.parts.map((part) => ({ name: part.name, part }));

describe.each(parts)("advantage estimator $name", ({ part }) => {
  /** Without what a critic learns. */
  const estimate = (trajectories: readonly Rewarded[]): PlainAdvantage[] =>
    part
      .estimate(trajectories, part.options.parse(OPTIONS[part.name] ?? {}))
      .map((each) => (typeof each === "object" && "advantages" in each ? each.advantages : each));

  it("gives each trajectory one number, or one for each of its tokens", () => {
    const trajectories = batch();
    const advantages = estimate(trajectories);
    expect(advantages).toHaveLength(trajectories.length);
    advantages.forEach((advantage, i) => {
      const numbers = typeof advantage === "number" ? [advantage] : advantage;
      if (typeof advantage !== "number")
        expect(numbers).toHaveLength(trajectories[i]!.tokens.call.length);
      expect(numbers.every(Number.isFinite)).toBe(true);
    });
    expect(estimate([])).toEqual([]);
  });

  it("gives 0 to what cannot be scored", () => {
    const trajectories = batch();
    const advantages = estimate(trajectories);
    trajectories.forEach(({ reward }, i) => {
      if (reward === null) expect([advantages[i]].flat().every((each) => each === 0)).toBe(true);
    });
  });

  it("does not depend on the order of trajectories", () => {
    const trajectories = batch();
    const order = random("order").shuffle(trajectories.map((_, i) => i));
    const shuffled = estimate(order.map((i) => trajectories[i]!));
    const straight = estimate(trajectories);
    order.forEach((i, k) => {
      const [left, right] = [[shuffled[k]!].flat(), [straight[i]!].flat()];
      left.forEach((each, token) => {
        expect(each).toBeCloseTo(right[token]!, 12);
      });
    });
  });

  it("does not change what it is given", () => {
    const trajectories = batch();
    estimate(trajectories);
    expect(trajectories).toEqual(batch());
  });

  it.runIf(part.needsGroups)(
    "gives exactly 0 to equal rewards, also where their mean is rounded",
    () => {
      for (const reward of [0, 1, 0.1, 1 / 3, -0.7, 1e-300, 1e300]) {
        for (const size of [1, 2, 3, 7]) {
          const equal = Array.from({ length: size }, () => rewarded({ reward }));
          expect(
            estimate(equal)
              .flat()
              .every((each) => each === 0),
          ).toBe(true);
        }
      }
    },
  );

  it.runIf(part.needsGroups)("adds up to 0 within a group", () => {
    const advantages = estimate([3, 1, 0.25].map((reward) => rewarded({ reward })));
    const sum = advantages.reduce<number>((total, each) => total + ([each].flat().at(-1) ?? 0), 0);
    expect(sum).toBeCloseTo(0, 12);
  });
});

import { describe, expect, it } from "vitest";
import { gae } from "../../src/advantages/gae.ts";
import { rewarded } from "../helpers/rewarded.ts";

describe("gae with a trajectory that cannot be scored", () => {
  it("needs no values of it, which a critic was not asked for, and gives it nothing", () => {
    const scored = rewarded({ reward: 1 });
    const plain = rewarded({ reward: null });
    const unscored = { ...plain, tokens: { ...plain.tokens, values: null } };
    const options = gae.options.parse({});
    const [alone] = gae.estimate([scored], options);
    const [beside, without] = gae.estimate([scored, unscored], options);
    expect(beside).toEqual(alone);
    expect(without).toMatchObject({ advantages: [0, 0, 0, 0], returns: [NaN, NaN, NaN, NaN] });
  });
});

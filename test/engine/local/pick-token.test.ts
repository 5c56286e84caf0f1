import { describe, expect, it } from "vitest";
import { random, type Random } from "../../../src/base/random.ts";
import { pickToken, type PickOptions } from "../../../src/engine/local/pick-token.ts";

const plain: PickOptions = { temperature: 1, topP: 1, topK: 0 };
const row = Float32Array.of(0.1, 0.4, 0.2, 0.3);

/** A stream whose next number is given. */
function at(number: number): Random {
  return { ...random(0), next: () => number };
}

function near(number: number): number {
  return expect.closeTo(number, 6) as number;
}

function pick(options: Partial<PickOptions>, number: number): { id: number; logprob: number } {
  return pickToken(row, 0, 4, { ...plain, ...options }, at(number));
}

describe("pickToken", () => {
  it("takes the token in whose share of [0, 1) the drawn number falls", () => {
    // Shares: [0, .1), [.1, .5), [.5, .7), [.7, 1).
    expect([0, 0.09, 0.11, 0.49, 0.51, 0.69, 0.71, 0.999].map((u) => pick({}, u).id)).toEqual([
      0, 0, 1, 1, 2, 2, 3, 3,
    ]);
    expect(pick({}, 0.6).logprob).toBeCloseTo(Math.log(0.2), 6);
  });

  it("reads its own row of a larger array", () => {
    const two = Float32Array.of(1, 0, 0, 0, ...row);
    expect(pickToken(two, 4, 4, plain, at(0.3)).id).toBe(1);
  });

  it("keeps the K likeliest and shares the mass among them", () => {
    // 1 (.4) and 3 (.3) stay: shares 4/7 and 3/7. The log-probability is the whole vocabulary's.
    expect(pick({ topK: 2 }, 0.57)).toEqual({ id: 1, logprob: near(Math.log(0.4)) });
    expect(pick({ topK: 2 }, 0.58)).toEqual({ id: 3, logprob: near(Math.log(0.3)) });
  });

  it("keeps all that equal the K-th likeliest", () => {
    const equal = Float32Array.of(0.1, 0.3, 0.3, 0.3);
    const ids = [0, 0.4, 0.99].map((u) => pickToken(equal, 0, 4, { ...plain, topK: 2 }, at(u)).id);
    expect(ids).toEqual([1, 2, 3]);
  });

  it("keeps the smallest set whose mass reaches topP", () => {
    // .4 + .3 reaches .65; .4 alone does not.
    expect(pick({ topP: 0.65 }, 0.99).id).toBe(3);
    expect(pick({ topP: 0.39 }, 0.99)).toEqual({ id: 1, logprob: near(Math.log(0.4)) });
    expect(pick({ topP: 0.75 }, 0.99).id).toBe(2);
  });

  it("counts topP over the tokens that topK left", () => {
    const six = Float32Array.of(0.3, 0.2, 0.16, 0.14, 0.1, 0.1);
    // Of .66 that three hold, two have .76.
    const ids = [0, 0.59, 0.61, 0.999].map(
      (u) => pickToken(six, 0, 6, { ...plain, topK: 3, topP: 0.7 }, at(u)).id,
    );
    expect(ids).toEqual([0, 0, 1, 1]);
  });

  it("drops what has less than minP of the likeliest token's probability", () => {
    // .5 of .4 is .2: token 0 (.1) is out.
    expect(pick({ minP: 0.5 }, 0).id).toBe(1);
    expect(pick({ minP: 0.49 }, 0.999).id).toBe(2);
    expect(pick({ minP: 0.51 }, 0.999).id).toBe(3);
  });

  it("takes the likeliest at temperature 0, the first of equals", () => {
    expect(pick({ temperature: 0 }, 0.99).id).toBe(1);
    const equal = Float32Array.of(0.2, 0.4, 0.4);
    expect(pickToken(equal, 0, 3, { ...plain, temperature: 0 }, at(0)).id).toBe(1);
  });

  it("adds a bias to scores before the temperature divides them", () => {
    // e^ln2 doubles token 0: .2 of 1.1, so that the next begins at .1818.
    const bias = { logitBias: { 0: Math.log(2) } };
    expect([0.181, 0.182].map((u) => pick(bias, u).id)).toEqual([0, 1]);
    // At temperature ½ the rows are squared shares already; the bias counts twice: .1 · 4 of 1.3.
    expect([0.307, 0.308].map((u) => pick({ ...bias, temperature: 0.5 }, u).id)).toEqual([0, 1]);
    expect(pick(bias, 0).logprob).toBeCloseTo(Math.log(0.1), 6);
  });

  it("stays finite under biases that force or forbid", () => {
    expect(pick({ logitBias: { 2: 1000 } }, 0.5)).toEqual({ id: 2, logprob: near(Math.log(0.2)) });
    const others = { 1: -Infinity, 3: -Infinity };
    expect(pick({ logitBias: others }, 0.99)).toEqual({ id: 2, logprob: near(Math.log(0.2)) });
    // What is left had underflowed: still drawn from, evenly.
    const sharp = Float32Array.of(1, 0, 0);
    const left = pickToken(sharp, 0, 3, { ...plain, logitBias: { 0: -Infinity } }, at(0.9));
    expect(left).toEqual({ id: 2, logprob: near(Math.log(2 ** -149)) });
  });
});

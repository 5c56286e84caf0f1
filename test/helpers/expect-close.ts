import { expect } from "vitest";

/** Expects equal lengths and |actual − expected| ≤ atol + rtol · |expected| everywhere; the message names the worst index. */
export function expectClose(
  actual: ArrayLike<number>,
  expected: ArrayLike<number>,
  { atol = 1e-6, rtol = 1e-5 } = {},
): void {
  expect(actual.length).toBe(expected.length);
  let worst = { index: -1, excess: 0 };
  for (let index = 0; index < expected.length; index++) {
    const [a, b] = [actual[index]!, expected[index]!];
    const excess = a === b ? 0 : Math.abs(a - b) - atol - rtol * Math.abs(b);
    if (!(excess <= worst.excess)) worst = { index, excess };
  }
  if (worst.index === -1) return;
  const [a, b] = [actual[worst.index]!, expected[worst.index]!];
  expect.fail(`worst at ${worst.index}: ${a} is not close to ${b} (atol ${atol}, rtol ${rtol})`);
}

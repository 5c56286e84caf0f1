import {
  type ArmTest,
  compareMeasured,
  type MeasuredArm,
  roomlessness,
  type TestOptions,
} from "./claims/claim-test.ts";
import type { RelationSide } from "../run/claims/relation.ts";

/** How two sides are tested. */
export interface SidesTest {
  isShare: boolean;
  level: number;
  effect: TestOptions["effect"];
  prior: TestOptions["prior"];
  /** What the runs of a side's arm measured; null for a number. */
  measuredOf: (side: RelationSide) => MeasuredArm | null;
}

/**
 * Tests that one side is above the other. The numbers added to the sides are the margin, or what an arm is compared with.
 * @returns the difference greater minus lesser.
 */
export function testSides(
  greater: RelationSide,
  lesser: RelationSide,
  { measuredOf, ...given }: SidesTest,
): ArmTest & { room: ReturnType<typeof roomlessness> } {
  const plus = lesser.plus - greater.plus;
  const [left, right] = [measuredOf(greater), measuredOf(lesser)];
  const factors = [greater.factor, lesser.factor] as const;
  const options: TestOptions = { ...given, factors };
  const room = (against: TestOptions) =>
    given.isShare ? roomlessness(left ?? -plus, right ?? plus, against) : null;
  if (left !== null && right !== null) {
    const withMargin = { ...options, margin: plus };
    return { ...compareMeasured(left, right, withMargin), room: room(withMargin) };
  }
  if (left !== null) return { ...compareMeasured(left, plus, options), room: room(options) };
  // `0.2 > arm` is −arm above −0.2.
  const arm = right ?? { bySeed: [], byQuestion: null };
  const test = compareMeasured(arm, plus, { ...options, factors: [-lesser.factor, 1] });
  return { ...test, room: room(options) };
}

/** The same test with the sides changed. */
export function turned(test: ArmTest): ArmTest {
  const { difference, margin, ci95 } = test;
  return {
    ...test,
    difference: -difference,
    margin: margin === 0 ? 0 : -margin,
    ci95: ci95 === null ? null : [-ci95[1], -ci95[0]],
  };
}

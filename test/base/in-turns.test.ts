import { expect, it } from "vitest";
import { mapInTurns } from "../../src/base/in-turns.ts";

it("gives what map gives, with turns of the event loop between slow items", async () => {
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  const slow = (item: number, i: number): number => {
    const until = performance.now() + 60;
    while (performance.now() < until);
    return item * 10 + i;
  };
  expect(await mapInTurns([3, 1, 2], slow)).toEqual([30, 11, 22]);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(0);
  expect(await mapInTurns([], slow)).toEqual([]);
});

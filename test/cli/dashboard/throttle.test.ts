import { describe, expect, it } from "vitest";
import { type Throttled, throttled } from "../../../src/cli/dashboard/throttle.ts";
import { fakeClock } from "../../helpers/screen.ts";

function counted(): { times: number[]; work: Throttled; clock: ReturnType<typeof fakeClock> } {
  const clock = fakeClock();
  const times: number[] = [];
  return { times, clock, work: throttled(() => times.push(clock.now()), clock) };
}

describe("throttled work", () => {
  it("is done once for all that asked, and never within the asking", () => {
    const { times, work, clock } = counted();
    work.ask(500);
    work.ask(500);
    expect(times).toEqual([]);
    clock.pass(0);
    expect(times).toEqual([0]);
  });

  it("keeps the wait between two times, however often it is asked for", () => {
    const { times, work, clock } = counted();
    for (let i = 0; i < 200; i++) {
      work.ask(500);
      clock.pass(10);
    }
    expect(times).toEqual([0, 500, 1000, 1500, 2000]);
  });

  it("is done less often the longer it takes, where that may be", () => {
    const clock = fakeClock();
    const times: number[] = [];
    let takes = 25;
    const work = throttled(() => {
      times.push(clock.now());
      clock.pass(takes);
    }, clock);
    const goOnUntil = (end: number): void => {
      while (clock.now() < end) {
        work.askSparingly(500);
        clock.pass(5);
      }
    };
    goOnUntil(2500);
    takes = 400;
    goOnUntil(7500);
    // A fortieth of the time; then every two seconds, however long it takes.
    expect(times).toEqual([0, 1000, 2000, 3000, 5000, 7000]);
  });

  it("is done sooner for who may wait less", () => {
    const { times, work, clock } = counted();
    work.ask(500);
    clock.pass(50);
    work.ask(500);
    work.ask(100);
    work.ask(500);
    clock.pass(1000);
    expect(times).toEqual([0, 100]);
  });

  it("is not done once it is stopped", () => {
    const { times, work, clock } = counted();
    work.ask(500);
    work.stop();
    clock.pass(1000);
    expect(times).toEqual([]);
  });
});

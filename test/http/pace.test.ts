import { beforeEach, describe, expect, it } from "vitest";
import { pace } from "../../src/http/concurrency.ts";

/** A clock that only sleeping moves. */
let clock = 0;
const environment = {
  now: () => clock,
  sleep: (ms: number, signal: AbortSignal | undefined) => {
    signal?.throwIfAborted();
    clock += ms;
    return Promise.resolve();
  },
};

/** When each of these is let through, in milliseconds. */
async function times(perMinute: number | null, ...units: number[]): Promise<number[]> {
  const paced = pace(perMinute, environment);
  const start = clock;
  return Promise.all(
    units.map(async (each) => {
      await paced.take(each, undefined);
      return clock - start;
    }),
  );
}

beforeEach(() => {
  clock = Date.UTC(2026, 0, 1);
});

describe("a pace", () => {
  it("spreads units evenly over the minute, the first at once", async () => {
    expect(await times(60, 1, 1, 1, 1)).toEqual([0, 1000, 2000, 3000]);
  });

  it("lets wait what comes after much for longer", async () => {
    expect(await times(600, 30, 1, 1)).toEqual([0, 3000, 3100]);
  });

  it("saves nothing up while nobody asks", async () => {
    const paced = pace(60, environment);
    await paced.take(1, undefined);
    clock += 60_000;
    const start = clock;
    for (let i = 0; i < 3; i++) await paced.take(1, undefined);
    expect(clock - start).toBe(2000);
  });

  it("waits longer where more was spent than taken, and less where less", async () => {
    const paced = pace(600, environment);
    const start = clock;
    await paced.take(10, undefined);
    paced.correct(10);
    await paced.take(10, undefined);
    expect(clock - start).toBe(2000);
    paced.correct(-5);
    await paced.take(1, undefined);
    expect(clock - start).toBe(2500);
  });

  it("gives what an aborted wait would have taken to the next", async () => {
    const paced = pace(60, environment);
    const start = clock;
    await paced.take(1, undefined);
    const aborted = paced.take(1, AbortSignal.abort(new Error("stop")));
    const next = paced.take(1, undefined);
    await expect(aborted).rejects.toThrow("stop");
    await next;
    expect(clock - start).toBe(1000);
  });

  it("lets go at once of a wait that is aborted behind others", async () => {
    const abort = new AbortController();
    const sleep = () => new Promise<void>(() => undefined);
    const paced = pace(60, { ...environment, sleep });
    await paced.take(1, undefined);
    void paced.take(1, undefined);
    const waiting = paced.take(1, abort.signal);
    abort.abort(new Error("stop"));
    await expect(waiting).rejects.toThrow("stop");
  });

  it("holds nobody up where there is no limit", async () => {
    expect(await times(null, 1000, 1000)).toEqual([0, 0]);
  });
});

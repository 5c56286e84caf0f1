import { describe, expect, it } from "vitest";
import { ExternalError } from "../../../src/base/errors.ts";
import type { LongWait } from "../../../src/base/waits/long-wait.ts";
import { openWaits, type PendingCall } from "../../../src/base/waits/waits.ts";
import { handClock } from "../../helpers/hand-clock.ts";

const tool: PendingCall = {
  owner: "tool corpus-search",
  subject: () => 'trajectory 3-1-2 (query "x")',
};
const late = ({ owner, waitedMs }: LongWait): Error =>
  new ExternalError("DISK_STALLED", `${owner} after ${waitedMs} ms`);
const never = (): Promise<never> => new Promise(() => undefined);
const goOn = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function setting() {
  const clock = handClock();
  const waits = openWaits(clock);
  const told: string[] = [];
  const facts: LongWait[] = [];
  const watch = waits.watch({
    noticeMs: 30_000,
    onLong: (message, wait) => {
      told.push(message.replace(/since [\d:]+/, "since T"));
      facts.push(wait);
    },
  });
  return { clock, waits, told, facts, watch };
}

describe("a wait with a deadline", () => {
  it("gives what the work gives, and is registered no longer", async () => {
    const { waits } = setting();
    const options = { deadlineMs: 50, late };
    await expect(waits.waitFor(tool, options, () => Promise.resolve(7))).resolves.toBe(7);
    await expect(
      waits.waitFor(tool, options, () => Promise.reject(new RangeError("no"))),
    ).rejects.toThrow(RangeError);
    await expect(
      waits.waitFor(tool, options, () => {
        throw new RangeError("at once");
      }),
    ).rejects.toThrow("at once");
    expect(waits.size).toBe(0);
  });

  it("ends with the caller's own error past its deadline, and aborts work that is deaf to it", async () => {
    const { clock, waits } = setting();
    let given: AbortSignal | null = null;
    const waited = waits.waitFor(tool, { deadlineMs: 120_000, late }, (signal) => {
      given = signal;
      return never();
    });
    const outcome = waited.catch((error: unknown) => error);
    await clock.pass(119_999);
    expect(given).toMatchObject({ aborted: false });
    await clock.pass(1);
    const error = await outcome;
    expect(error).toMatchObject({ message: "tool corpus-search after 120000 ms" });
    expect(given).toMatchObject({ aborted: true, reason: error });
    expect(waits.size).toBe(0);
  });

  it("ignores what work still does after its deadline", async () => {
    const { clock, waits } = setting();
    let fail = (_: Error): void => undefined;
    const work = new Promise<never>((_, reject) => (fail = reject));
    const waited = waits.waitFor(tool, { deadlineMs: 10, late }, () => work);
    const outcome = expect(waited).rejects.toThrow("after 10 ms");
    await clock.pass(10);
    await outcome;
    fail(new Error("much later"));
    await goOn(5);
  });

  it("keeps short deadlines beside long ones that were there before", async () => {
    const { clock, waits } = setting();
    const ended: number[] = [];
    for (const deadlineMs of [600_000, 300, 5000, 20]) {
      waits.begin(tool, { deadlineMs, onDeadline: () => ended.push(clock.now() - 1000) });
    }
    await clock.pass(600_000);
    expect(ended).toEqual([20, 300, 5000, 600_000]);
  });

  it("passes the caller's abort on, and waits for the work to see it", async () => {
    const { waits } = setting();
    const run = new AbortController();
    const options = { deadlineMs: null, signal: run.signal, late };
    const both = [1, 2].map(() =>
      waits.waitFor(tool, options, async (signal) => {
        await new Promise((resolve) => {
          signal.addEventListener("abort", resolve);
        });
        throw signal.reason;
      }),
    );
    run.abort(new Error("stopped"));
    for (const each of both) await expect(each).rejects.toThrow("stopped");
    await expect(waits.waitFor(tool, options, never)).rejects.toThrow("stopped");
    expect(waits.size).toBe(0);
  });

  it("counts time from the last sign of life", async () => {
    const { clock, waits, facts } = setting();
    let steps = 0;
    const over: LongWait[] = [];
    waits.begin(tool, {
      deadlineMs: 60_000,
      progress: () => steps,
      onDeadline: (wait) => over.push(wait),
    });
    for (let i = 0; i < 10; i++) {
      await clock.pass(20_000);
      steps += 1;
    }
    expect(facts).toEqual([]);
    await clock.pass(61_000);
    expect(over).toMatchObject([{ waitedMs: 60_000, since: "2026-05-04T04:34:28.000Z" }]);
  });

  it("counts time anew when it is renewed", async () => {
    const { clock, waits } = setting();
    const over: number[] = [];
    const open = waits.begin(tool, { deadlineMs: 2000, onDeadline: () => over.push(clock.now()) });
    await clock.pass(1500);
    open.renew();
    await clock.pass(1999);
    expect(over).toEqual([]);
    await clock.pass(1);
    expect(over).toEqual([4500]);
    open.renew();
    open.end();
    expect(waits.size).toBe(0);
  });
});

describe("the clock of waits", () => {
  it("does not count time in which the process was stopped", async () => {
    const { clock, waits } = setting();
    const over: number[] = [];
    waits.begin(tool, { deadlineMs: 10_000, onDeadline: () => over.push(clock.now()) });
    await clock.pass(4000);
    await clock.stopFor(3_600_000);
    expect(over).toEqual([]);
    await clock.pass(4900);
    expect(over).toEqual([]);
    await clock.pass(1100);
    expect(over).toHaveLength(1);
  });

  it("does not look at the wall's clock: set a day ahead or back, nothing is over sooner or later", async () => {
    const { clock, waits, facts } = setting();
    const over: number[] = [];
    waits.begin(tool, { deadlineMs: 90_000, onDeadline: () => over.push(clock.now() - 1000) });
    await clock.pass(20_000);
    clock.setDate("2026-05-05T04:00:00.000Z");
    await clock.pass(15_000);
    expect(facts).toMatchObject([{ waitedMs: 30_000 }]);
    clock.setDate("2026-05-01T00:00:00.000Z");
    await clock.pass(60_000);
    expect(over).toEqual([90_000]);
  });
});

describe("what is told of waits that last", () => {
  it("names who waits for what, since when, and when it is given up", async () => {
    const { clock, waits, told, facts } = setting();
    await clock.pass(15_000);
    waits.begin(tool, { deadlineMs: 120_000 });
    await clock.pass(44_000);
    expect(told).toEqual([]);
    await clock.pass(1000);
    expect(told).toEqual([
      'waiting 45 s: tool corpus-search for trajectory 3-1-2 (query "x"), since T; deadline 120 s',
    ]);
    expect(facts).toEqual([
      {
        owner: "tool corpus-search",
        subject: 'trajectory 3-1-2 (query "x")',
        waitedMs: 45_000,
        since: "2026-05-04T04:31:22.000Z",
        deadlineMs: 120_000,
        others: 0,
      },
    ]);
  });

  it("tells each owner's longest wait once a look, and again when its age has doubled", async () => {
    const { clock, waits, told } = setting();
    for (const [owner, count] of Object.entries({ a: 3, b: 1 })) {
      for (let i = 0; i < count; i++) {
        waits.begin({ owner, subject: () => `question ${i}` }, { deadlineMs: null });
      }
    }
    await clock.pass(300_000);
    const ofB = (ms: number) => `waiting ${ms} s: b for question 0, since T; no deadline`;
    expect(told.filter((line) => line.includes(": b for"))).toEqual([
      ofB(30),
      ofB(60),
      ofB(120),
      ofB(240),
    ]);
    expect(told[0]).toBe(
      "waiting 30 s: a for question 0, since T; no deadline; 2 more wait for it",
    );
  });

  it("is silent about waits that end in time, and after it is closed", async () => {
    const { clock, waits, told, watch } = setting();
    for (let i = 0; i < 20; i++) {
      const open = waits.begin(tool, { deadlineMs: 60_000 });
      await clock.pass(29_000);
      open.end();
    }
    expect(told).toEqual([]);
    waits.begin(tool, { deadlineMs: null });
    watch.close();
    await clock.pass(100_000);
    expect(told).toEqual([]);
  });
});

describe("many waits", () => {
  it("holds a hundred thousand at once on one timer, and nothing of them afterwards", async () => {
    const clock = handClock();
    const waits = openWaits(clock);
    const run = new AbortController();
    const options = { deadlineMs: 60_000, signal: run.signal, late };
    const resolves: (() => void)[] = [];
    const all = Array.from({ length: 100_000 }, () =>
      waits.waitFor(tool, options, () => new Promise<void>((resolve) => resolves.push(resolve))),
    );
    expect(waits.size).toBe(100_000);
    expect(clock.timers).toBe(1);
    for (const resolve of resolves) resolve();
    await Promise.all(all);
    expect(waits.size).toBe(0);
    await clock.pass(2000);
    expect(clock.timers).toBe(0);
  });

  it("ends a hundred thousand that were forgotten", async () => {
    const clock = handClock();
    const waits = openWaits(clock);
    let over = 0;
    for (let i = 0; i < 100_000; i++) {
      waits.begin(tool, { deadlineMs: 60_000, onDeadline: () => (over += 1) });
    }
    await clock.pass(60_000);
    expect([over, waits.size]).toEqual([100_000, 0]);
  });
});

describe("the machine's own clock", () => {
  it("ends a wait when its time is over", async () => {
    const waited = openWaits().waitFor(tool, { deadlineMs: 30, late }, never);
    await expect(waited).rejects.toThrow("tool corpus-search after");
  });
});

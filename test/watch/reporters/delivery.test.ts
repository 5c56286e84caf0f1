import { describe, expect, it } from "vitest";
import { Delivery, Refused, type ReporterBackend } from "../../../src/watch/reporters/delivery.ts";
import type { ReporterEvent } from "../../../src/watch/reporters/reporter-event.ts";

const step = (n: number): ReporterEvent => ({
  kind: "step",
  at: 0,
  step: n,
  data: { a: n },
  timing: {},
});
const evaluation: ReporterEvent = {
  kind: "evaluation",
  at: 0,
  name: "before",
  step: 0,
  scores: {},
};

/** Delivers as `answer` says; keeps what was delivered, by batch. */
function opened(
  answer: (told: readonly ReporterEvent[], attempt: number) => Promise<void>,
  given: { maxQueued?: number; closeMs?: number; fit?: number } = {},
): { delivery: Delivery; batches: unknown[][]; troubles: string[] } {
  const { maxQueued = 100, closeMs = 5000, fit = 100 } = given;
  const batches: unknown[][] = [];
  const troubles: string[] = [];
  let attempt = 0;
  const backend: ReporterBackend = {
    name: "backend",
    batchSize: (waiting) => Math.min(fit, waiting.length),
    async send(told) {
      attempt += 1;
      await answer(told, attempt);
      batches.push(told.map((each) => (each.kind === "step" ? each.step : each.kind)));
    },
  };
  const onTrouble = (message: string): void => void troubles.push(message);
  const delivery = new Delivery(backend, {
    maxQueued,
    closeMs,
    intervalMs: 0,
    retryMs: 1,
    onTrouble,
  });
  return { delivery, batches, troubles };
}

/** Resolves when it is let go. */
function gate(): { passed: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

describe("Delivery", () => {
  it("delivers everything in order, together what comes meanwhile, and says nothing", async () => {
    const { passed, open } = gate();
    const { delivery, batches, troubles } = opened(async (_, attempt) => {
      if (attempt === 1) await passed;
    });
    delivery.push(step(1));
    await Promise.resolve();
    await Promise.resolve();
    for (const n of [2, 3]) delivery.push(step(n));
    open();
    await delivery.close();
    expect(batches.flat()).toEqual([1, 2, 3]);
    expect(batches.at(-1)).toEqual([2, 3]);
    expect(troubles).toEqual([]);
  });

  it("tells no more at once than the backend takes", async () => {
    const { delivery, batches } = opened(() => Promise.resolve(), { fit: 2 });
    for (const n of [1, 2, 3]) delivery.push(step(n));
    await delivery.close();
    expect(batches).toEqual([[1, 2], [3]]);
  });

  it("drops the oldest steps when too much waits, keeps the rest, and says how many at the end", async () => {
    const { passed, open } = gate();
    const { delivery, batches, troubles } = opened(() => passed, { maxQueued: 3 });
    delivery.push(evaluation);
    delivery.push(step(1));
    await new Promise((resolve) => setImmediate(resolve)); // both are under way
    delivery.push(evaluation);
    for (const n of [2, 3, 4, 5]) delivery.push(step(n));
    open();
    await delivery.close();
    expect(batches).toEqual([
      ["evaluation", 1],
      ["evaluation", 4, 5],
    ]);
    expect(troubles).toEqual(["backend: not delivered: 2 steps. The run folder has all of it."]);
  });

  it("tries again what failed, says the first failure only, and at the end that all was told", async () => {
    const { delivery, batches, troubles } = opened((_, attempt) =>
      attempt <= 3 ? Promise.reject(new Error(`no server ${attempt}.`)) : Promise.resolve(),
    );
    delivery.push(step(1));
    await new Promise((resolve) => setTimeout(resolve, 50));
    await delivery.close();
    expect(batches).toEqual([[1]]);
    expect(troubles).toEqual([
      "no server 1. The run continues; up to 100 steps are kept and delivered when it works again.",
      "backend: all events were delivered in the end.",
    ]);
  });

  it("tries things one by one when they are refused together, and loses only what is refused alone", async () => {
    const { delivery, batches, troubles } = opened((told) =>
      told.some((each) => each.kind === "step" && each.step === 2)
        ? Promise.reject(new Refused("2 is no good."))
        : Promise.resolve(),
    );
    for (const n of [1, 2, 3]) delivery.push(step(n));
    await delivery.close();
    expect(batches).toEqual([[1], [3]]);
    expect(troubles).toEqual([
      "2 is no good. The run continues and delivers all other events.",
      "backend: not delivered: 1 step. The run folder has all of it.",
    ]);
  });

  it("ends at its deadline when a delivery hangs, and counts what was under way", async () => {
    const { delivery, troubles } = opened(() => new Promise(() => undefined), { closeMs: 20 });
    delivery.push(step(1));
    delivery.push({ kind: "end", at: 0, outcome: "finished" });
    await delivery.close();
    expect(troubles).toEqual([
      "backend: not delivered: 1 step, the end of the run. The run folder has all of it.",
    ]);
  });

  it("ends after one more failed attempt when nothing answers, without waiting for its deadline", async () => {
    const { delivery, troubles } = opened(() => Promise.reject(new Error("no server.")), {
      closeMs: 1_000_000,
    });
    delivery.push(step(1));
    await delivery.close();
    expect(troubles).toEqual([
      "no server. The run continues; up to 100 steps are kept and delivered when it works again.",
      "backend: not delivered: 1 step. The run folder has all of it.",
    ]);
  });

  it("takes nothing more once it is closed", async () => {
    const { delivery, batches, troubles } = opened(() => Promise.resolve());
    await delivery.close();
    delivery.push(step(1));
    await delivery.close();
    expect([batches, troubles]).toEqual([[], []]);
  });
});

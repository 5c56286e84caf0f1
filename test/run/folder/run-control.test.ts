import { describe, expect, it } from "vitest";
import { openRunControl } from "../../../src/run/folder/run-control.ts";

const { signal } = new AbortController();

describe("openRunControl", () => {
  it("hands over what was asked for once", () => {
    const control = openRunControl();
    control.save();
    control.evaluate();
    expect(control.take()).toEqual({ save: true, evaluate: true, stop: false });
    expect(control.take()).toEqual({ save: false, evaluate: false, stop: false });
  });

  it("holds a run while it is paused", async () => {
    const control = openRunControl();
    await control.whilePaused(signal);
    control.pause();
    const order: string[] = [];
    const held = control.whilePaused(signal).then(() => order.push("goes on"));
    await Promise.resolve();
    order.push("resumed");
    control.resume();
    await held;
    expect(order).toEqual(["resumed", "goes on"]);
    expect(control.paused).toBe(false);
  });

  it("lets a paused run do what is asked for, and then wait again", async () => {
    const control = openRunControl();
    control.pause();
    const held = control.whilePaused(signal);
    control.save();
    await held;
    expect(control.take()).toEqual({ save: true, evaluate: false, stop: false });
    expect(control.paused).toBe(true);
    // Asked for before it waits.
    control.evaluate();
    await control.whilePaused(signal);
    expect(control.take().evaluate).toBe(true);
  });

  it("lets a paused run go that is to stop, or is interrupted", async () => {
    const control = openRunControl();
    control.pause();
    const held = control.whilePaused(signal);
    control.stop();
    await held;
    expect(control.take().stop).toBe(true);
    control.pause();
    const abort = new AbortController();
    const waiting = control.whilePaused(abort.signal);
    abort.abort();
    await expect(waiting).rejects.toThrow("aborted");
  });
});

import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { type DashboardOptions, openDashboard } from "../../../src/cli/dashboard/open-dashboard.ts";
import { writeAroundProgress } from "../../../src/cli/held-terminal.ts";
import { openRunControl } from "../../../src/run/folder/run-control.ts";
import { segmentText } from "../../../src/trajectory/trajectory.ts";
import type { Printed } from "../../../src/view/terminal.ts";
import { BEGUN, madeEvaluation, madeStep } from "../../helpers/dashboard-run.ts";
import { fakeClock, fakeTerminal } from "../../helpers/screen.ts";

/** A keyboard that tells what was done to it. */
class Keyboard extends EventEmitter {
  isTTY = true;
  raw = false;
  flowing = false;
  setRawMode(raw: boolean): void {
    this.raw = raw;
  }
  resume(): void {
    this.flowing = true;
  }
  pause(): void {
    this.flowing = false;
  }
  press(keys: string): void {
    this.emit("data", Buffer.from(keys));
  }
}

function opened(changes: Partial<DashboardOptions> = {}) {
  const [clock, terminal, keyboard] = [fakeClock(), fakeTerminal(80, 24), new Keyboard()];
  const control = openRunControl();
  const abort = new AbortController();
  const signalled: string[] = [];
  let resume: () => void = () => undefined;
  let isForeground = true;
  const context = {
    call: "agentrl",
    // No bar of the real stderr's.
    terminal: false,
    signal: abort.signal,
    out: () => undefined,
    document: () => undefined,
    untilStopped: () => Promise.resolve(),
    // As the command line's own: around what stands at the bottom.
    note: (text: Printed) => {
      writeAroundProgress(() => {
        // eslint-disable-next-line @typescript-eslint/no-base-to-string -- painted text has a toString of its own
        terminal.write(`${String(text)}\n`);
      });
    },
  };
  const watch = openDashboard(context, {
    facts: BEGUN.facts,
    control,
    colours: false,
    stream: terminal,
    keyboard,
    clock,
    signals: {
      interrupt: () => signalled.push("interrupt"),
      quit: () => signalled.push("quit"),
      suspend: (onResumed) => {
        signalled.push("suspend");
        resume = onResumed;
      },
      isForeground: () => isForeground,
    },
    readPast: () => Promise.resolve({ device: "cpu", history: [], evaluations: [], events: [] }),
    openTexts: () => Promise.resolve((segment) => segmentText(segment, null)),
    ...changes,
  });
  const goOn = (foreground: boolean): void => {
    isForeground = foreground;
    resume();
  };
  return { clock, terminal, keyboard, control, abort, signalled, context, watch, goOn };
}

describe("the live view", () => {
  it("draws nothing before the first news, and then at most two frames a second of them", () => {
    const { clock, terminal, watch } = opened();
    clock.pass(5000);
    expect(terminal.writes()).toBe(0);
    for (let step = 1; step <= 100; step++) {
      watch.news.onStep(madeStep(step, 100));
      clock.pass(50);
    }
    // Five seconds, the first frame at their beginning.
    expect(terminal.writes()).toBe(11);
    expect(terminal.screen()).toContain("step 100/100");
    watch.stop();
  });

  it("shows that time passes without news", () => {
    const { clock, terminal, watch } = opened();
    watch.news.onStep(madeStep(1));
    clock.pass(0);
    expect(terminal.screen().split("\n")[0]).toMatch(/ 0 s$/);
    clock.pass(7000);
    expect(terminal.screen().split("\n")[0]).toMatch(/ 7 s$/);
    watch.stop();
  });

  it("hands what keys ask for to the run, and shows it at once", () => {
    const { clock, terminal, keyboard, control, watch } = opened();
    watch.news.onStep(madeStep(1));
    clock.pass(200);
    keyboard.press("sE");
    clock.pass(0);
    expect(terminal.screen()).toContain("after this step: save a checkpoint, evaluate");
    expect(control.take()).toEqual({ save: true, evaluate: true, stop: false });
    keyboard.press("p");
    expect(control.paused).toBe(true);
    keyboard.press("p");
    expect(control.paused).toBe(false);
    keyboard.press("q");
    expect(control.take().stop).toBe(true);
    // An arrow is no letter.
    keyboard.press("\u001b[A");
    watch.stop();
    expect(terminal.screen()).toContain(
      "Stopped after step 1 of 40 as requested; --resume continues.",
    );
  });

  it("steps through the rollouts of a batch, and shows and hides help", () => {
    const { clock, terminal, keyboard, watch } = opened();
    watch.news.onBatch(madeStep(1).trajectories, 1);
    clock.pass(1000);
    expect(terminal.screen()).toContain("rollout 1-a/0");
    keyboard.press("t");
    clock.pass(1000);
    expect(terminal.screen()).toContain("rollout 1-b/0");
    keyboard.press("t?");
    clock.pass(1000);
    expect(terminal.screen()).toContain("show or hide this");
    keyboard.press("?");
    clock.pass(1000);
    expect(terminal.screen()).toContain("rollout 1-a/0");
    watch.stop();
  });

  it("leaves the terminal as it was, its last frame with the summary below it", () => {
    const { clock, terminal, keyboard, context, watch } = opened();
    terminal.write("$ agentrl train\n");
    watch.news.onStep(madeStep(1));
    clock.pass(1000);
    expect(keyboard).toMatchObject({ raw: true, flowing: true });
    watch.news.onEvaluation("after", madeEvaluation(0.5));
    watch.stop();
    watch.stop();
    expect(keyboard).toMatchObject({ raw: false, flowing: false });
    expect(keyboard.listenerCount("data") + terminal.listeners()).toBe(0);
    const before = terminal.writes();
    clock.pass(5000);
    expect(terminal.writes()).toBe(before);
    context.note("summary");
    const lines = terminal.screen().split("\n");
    expect([lines[0], lines.at(-1)]).toEqual(["$ agentrl train", "summary"]);
    expect(terminal.screen()).toMatch(/held-out EM.*0\.500/);
    expect(terminal.screen()).not.toContain("p pause");
  });

  it("stands below whatever else is written", () => {
    const { clock, terminal, context, watch } = opened();
    watch.news.onStep(madeStep(1));
    clock.pass(0);
    context.note("a warning");
    const lines = terminal.screen().split("\n");
    expect(lines[0]).toBe("a warning");
    expect(lines[1]).toContain("search-r1 · mini · seed 1");
    expect(lines.at(-1)).toContain("p pause");
    watch.stop();
  });

  it("gives the keyboard back before it interrupts, so that a second Ctrl-C is the terminal's own", () => {
    const { clock, keyboard, signalled, watch } = opened();
    watch.news.onStep(madeStep(1));
    clock.pass(0);
    keyboard.press("\u0003");
    expect(signalled).toEqual(["interrupt"]);
    expect(keyboard.raw).toBe(false);
    watch.stop();
  });

  it("ends when the run is interrupted from elsewhere", () => {
    const { clock, keyboard, terminal, abort, watch } = opened();
    watch.news.onStep(madeStep(1));
    clock.pass(0);
    abort.abort();
    const writes = terminal.writes();
    watch.news.onStep(madeStep(2));
    clock.pass(5000);
    expect(terminal.writes()).toBe(writes);
    expect(keyboard.raw).toBe(false);
  });

  it("is away while it is suspended, and comes back with the foreground", () => {
    const { clock, keyboard, terminal, signalled, watch, goOn } = opened();
    watch.news.onStep(madeStep(1));
    clock.pass(0);
    keyboard.press("\u001a");
    expect(signalled).toEqual(["suspend"]);
    expect(keyboard.raw).toBe(false);
    expect(terminal.screen()).toBe("");
    goOn(false);
    watch.news.onStep(madeStep(2));
    clock.pass(3000);
    expect(terminal.screen()).toBe("");
    goOn(true);
    clock.pass(1000);
    expect(terminal.screen()).toContain("step 2/40");
    expect(keyboard.raw).toBe(true);
    watch.stop();
  });

  it("draws anew for another size, one line where there is no place for more", () => {
    const { clock, terminal, watch } = opened();
    watch.news.onStep(madeStep(1));
    clock.pass(0);
    terminal.resize(40, 10);
    clock.pass(100);
    expect(terminal.screen()).toMatch(/^step 1\/40 [█░]+ 2 %/);
    terminal.resize(100, 30);
    clock.pass(100);
    expect(terminal.screen()).toContain("q stop after this step");
    watch.stop();
  });

  it("works without a keyboard", () => {
    const keyboard = new Keyboard();
    keyboard.isTTY = false;
    const { clock, terminal, watch } = opened({ keyboard });
    watch.news.onStep(madeStep(1));
    clock.pass(0);
    expect(terminal.screen()).toContain("no keys: stdin is not a terminal");
    expect(keyboard).toMatchObject({ raw: false, flowing: false });
    watch.stop();
  });

  it("makes way for lines when it fails: the run goes on", async () => {
    const textOf = (): never => {
      throw new Error("no such token");
    };
    const { clock, terminal, keyboard, watch } = opened({
      openTexts: () => Promise.resolve(textOf),
    });
    watch.news.onStep(madeStep(1));
    clock.pass(0);
    await Promise.resolve();
    await Promise.resolve();
    watch.news.onStep(madeStep(2));
    clock.pass(1000);
    expect(terminal.screen()).toContain("The live view failed and is closed: no such token.");
    watch.news.onStep(madeStep(3));
    expect(terminal.screen()).toMatch(/ 3\/40 +0\.130/);
    expect(keyboard.raw).toBe(false);
    watch.stop();
  });

  it("shows a run without a folder that can be read, or a tokenizer", async () => {
    const failing = () => Promise.reject(new Error("not there"));
    const { clock, terminal, watch } = opened({ readPast: failing, openTexts: failing });
    watch.news.onStep(madeStep(1));
    await Promise.resolve();
    clock.pass(0);
    expect(terminal.screen()).toContain("rollout 1-a/0");
    watch.stop();
  });
});

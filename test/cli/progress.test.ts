import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { CliContext } from "../../src/cli/command.ts";
import { startProgress } from "../../src/cli/progress.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

function logOf(work: (step: (seconds: number, done: number, status?: string) => void) => void) {
  const lines: string[] = [];
  const context: CliContext = {
    call: "agentrl",
    out: () => undefined,
    document: () => undefined,
    // eslint-disable-next-line @typescript-eslint/no-base-to-string -- painted text has a toString of its own
    note: (line) => lines.push(String(line)),
    terminal: false,
    signal: new AbortController().signal,
    untilStopped: () => Promise.resolve(),
  };
  const progress = startProgress(context, { label: "asking", total: 100, unit: "questions" });
  work((seconds, done, status) => {
    vi.advanceTimersByTime(seconds * 1000);
    progress.update(done, status);
  });
  progress.stop();
  return lines;
}

it("writes a line every 10 s where no terminal shows a bar", () => {
  const lines = logOf((step) => {
    step(0, 20);
    step(9, 30, "em 0.4");
    step(2, 42);
    step(5, 50);
    step(6, 64, "em 0.5");
  });
  // 22 of the remaining 58 questions took 11 s, and 44 of 80 took 22 s: 20 were done before.
  expect(lines).toEqual([
    "asking 42/100 questions, 11 s, 29 s left  em 0.4",
    "asking 64/100 questions, 22 s, 18 s left  em 0.5",
  ]);
});

it("says nothing of work that is done within 10 s", () => {
  expect(
    logOf((step) => {
      step(1, 50);
      step(1, 100);
    }),
  ).toEqual([]);
});

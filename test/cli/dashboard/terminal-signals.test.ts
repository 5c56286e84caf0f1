import { describe, expect, it } from "vitest";
import { foregroundOf } from "../../../src/cli/dashboard/terminal-signals.ts";

describe("a process of a terminal", () => {
  it("is in the foreground where its group is the terminal's, whatever the program is called", () => {
    // pid, name, state, parent, group, session, terminal, the terminal's foreground group.
    expect(foregroundOf("42 (node) S 40 42 40 34816 42 4194304")).toBe(true);
    expect(foregroundOf("42 (node) S 40 42 40 34816 40 4194304")).toBe(false);
    expect(foregroundOf("42 (a) b (c) S 40 42 40 34816 40 4194304")).toBe(false);
    // No terminal of its own: nobody stops it.
    expect(foregroundOf("42 (node) S 40 42 40 0 -1 4194304")).toBe(true);
  });
});

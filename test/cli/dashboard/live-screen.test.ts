import { describe, expect, it } from "vitest";
import { liveScreen } from "../../../src/cli/dashboard/live-screen.ts";
import { fakeTerminal } from "../../helpers/screen.ts";

describe("a live screen", () => {
  it("draws a frame over the one before, and leaves what stands above", () => {
    const terminal = fakeTerminal(40, 10);
    terminal.write("$ agentrl train\n");
    const screen = liveScreen(terminal);
    screen.draw("one\ntwo\nthree");
    screen.draw("one\n2");
    expect(terminal.screen()).toBe("$ agentrl train\none\n2");
    screen.clear();
    expect(terminal.screen()).toBe("$ agentrl train");
    screen.draw("again");
    expect(terminal.screen()).toBe("$ agentrl train\nagain");
  });

  it("writes only lines that have changed, and nothing for a frame that has not", () => {
    const written: string[] = [];
    const stream = { columns: 40, rows: 10, write: (text: string) => written.push(text) };
    const screen = liveScreen(stream);
    screen.draw("one\ntwo\nthree");
    screen.draw("one\n2\nthree");
    screen.draw("one\n2\nthree");
    expect(written.slice(1)).toEqual(["\r\u001b[3A\n2\u001b[K\n\n"]);
  });

  it("takes away as many rows as a narrower terminal has broken the lines into", () => {
    const written: string[] = [];
    const stream = { columns: 40, rows: 10, write: (text: string) => written.push(text) };
    const screen = liveScreen(stream);
    screen.draw(`\u001b[1m${"x".repeat(38)}\u001b[0m\nshort`);
    stream.columns = 20;
    screen.draw("short");
    // 38 columns are two rows of 20; a third is that of the second line.
    expect(written.slice(1)).toEqual(["\r\u001b[3A\u001b[J", "short\u001b[K\n"]);
  });

  it("neither hides the cursor nor leaves the screen", () => {
    const written: string[] = [];
    const screen = liveScreen({
      columns: 40,
      rows: 10,
      write: (text: string) => written.push(text),
    });
    screen.draw("a");
    screen.draw("b");
    screen.clear();
    expect(written.join("")).not.toContain("\u001b[?");
  });
});

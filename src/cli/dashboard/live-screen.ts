import { displayWidth } from "../../base/table.ts";

/** The terminal of a frame. */
export interface FrameStream {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

/** Draws each frame over the last one at the cursor. The cursor stays visible below it, so a killed process leaves a usable terminal. */
export interface LiveScreen {
  /** Writes only changed lines. @param frame lines, none wider than the terminal, fewer than it has rows. */
  draw(frame: string): void;
  /** Erases the frame. */
  clear(): void;
}

const ESC = "\u001b[";
const CLEAR_TO_END_OF_LINE = `${ESC}K`;
const CLEAR_BELOW = `${ESC}J`;

/** See LiveScreen. The terminal's alternate screen is not used: earlier output stays above. */
export function liveScreen(stream: FrameStream): LiveScreen {
  let shown: string[] = [];
  let columns = stream.columns ?? 80;
  /** Moves to the frame's first line; a narrower terminal has wrapped its lines. */
  const up = (): string => {
    const now = stream.columns ?? 80;
    const rows =
      now === columns ? shown.length : shown.reduce((sum, line) => sum + rowsOf(line, now), 0);
    return rows === 0 ? "\r" : `\r${ESC}${rows}A`;
  };
  const clear = (): void => {
    if (shown.length > 0) stream.write(`${up()}${CLEAR_BELOW}`);
    shown = [];
  };
  return {
    draw(frame) {
      const lines = frame.split("\n");
      // After a change of width, no line is where it was written.
      if (columns !== (stream.columns ?? 80)) clear();
      columns = stream.columns ?? 80;
      if (lines.length === shown.length && lines.every((line, i) => line === shown[i])) return;
      const moved = shown.length === 0 ? "" : up();
      const written = lines.map((line, i) =>
        line === shown[i] ? "\n" : `${line}${CLEAR_TO_END_OF_LINE}\n`,
      );
      const below = lines.length < shown.length ? CLEAR_BELOW : "";
      stream.write(`${moved}${written.join("")}${below}`);
      shown = lines;
    },
    clear,
  };
}

/** Rows of a line. */
function rowsOf(line: string, columns: number): number {
  // eslint-disable-next-line no-control-regex -- escape codes take no columns
  const width = displayWidth(line.replace(/\u001b\[[0-9;]*m/g, ""));
  return Math.max(1, Math.ceil(width / columns));
}

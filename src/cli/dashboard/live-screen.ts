import { displayWidth } from "../../base/table.ts";

/** The terminal that a frame stands on. */
export interface FrameStream {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

/** Draws frames over one another where the cursor is. The cursor stands below, visible: nothing needs mending when the process is killed. */
export interface LiveScreen {
  /** Only lines that have changed are written. @param frame lines, none wider than the terminal, fewer than it has rows. */
  draw(frame: string): void;
  /** Takes the frame away. */
  clear(): void;
}

const ESC = "\u001b[";
const CLEAR_TO_END_OF_LINE = `${ESC}K`;
const CLEAR_BELOW = `${ESC}J`;

/** See LiveScreen. No other screen of the terminal is used: what stood on it before stays above. */
export function liveScreen(stream: FrameStream): LiveScreen {
  let shown: string[] = [];
  let columns = stream.columns ?? 80;
  /** To the frame's first line. A terminal made narrower has broken its lines. */
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
      // Of another width nothing stands where it was written.
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

/** Rows that a line takes. */
function rowsOf(line: string, columns: number): number {
  // eslint-disable-next-line no-control-regex -- escape codes take no columns
  const width = displayWidth(line.replace(/\u001b\[[0-9;]*m/g, ""));
  return Math.max(1, Math.ceil(width / columns));
}

/** A terminal as far as a live view needs one: what stands on it after escape codes are obeyed. Nothing wraps or scrolls. */
export interface FakeTerminal {
  columns: number;
  rows: number;
  isTTY: boolean;
  write(text: string): void;
  on(event: string, listener: () => void): void;
  off(event: string, listener: () => void): void;
  resize(columns: number, rows: number): void;
  /** Listeners that nobody took back. */
  listeners(): number;
  /** Calls of `write`. */
  writes(): number;
  /** Lines, without colours and blank lines at the end. */
  screen(): string;
}

/* eslint-disable no-control-regex -- escape codes are what a terminal reads */
export function fakeTerminal(columns: number, rows: number): FakeTerminal {
  const lines: string[] = [""];
  let row = 0;
  let writes = 0;
  const listeners = new Set<() => void>();
  const put = (text: string): void => {
    lines[row] = text;
  };
  const obey = (token: string): void => {
    if (token === "\n") {
      row += 1;
      lines[row] ??= "";
    } else if (/^\u001b\[\d+A$/.test(token)) row = Math.max(0, row - Number(token.slice(2, -1)));
    else if (token === "\u001b[J") lines.splice(row, lines.length, "");
    // A line is always written from its beginning, and what is behind it is cleared.
    else if (token !== "\r" && token !== "\u001b[K") put(token);
  };
  return {
    columns,
    rows,
    isTTY: true,
    write(text) {
      writes += 1;
      const plain = text.replace(/\u001b\[[0-9;]*m/g, "");
      for (const token of plain.match(/\u001b\[\d*[AJK]|[\r\n]|[^\u001b\r\n]+/g) ?? []) obey(token);
    },
    on: (_event, listener) => void listeners.add(listener),
    off: (_event, listener) => void listeners.delete(listener),
    resize(newColumns, newRows) {
      this.columns = newColumns;
      this.rows = newRows;
      for (const listener of listeners) listener();
    },
    listeners: () => listeners.size,
    writes: () => writes,
    screen: () => lines.join("\n").trimEnd(),
  };
}

/** Time that stands still until it is moved. */
export function fakeClock(): {
  now(): number;
  later(ms: number, call: () => void): () => void;
  /** Moves on, calling back what falls due on the way. */
  pass(ms: number): void;
} {
  let time = 0;
  let timers: { at: number; call: () => void }[] = [];
  return {
    now: () => time,
    later(ms, call) {
      const timer = { at: time + ms, call };
      timers.push(timer);
      return () => {
        timers = timers.filter((each) => each !== timer);
      };
    },
    pass(ms) {
      const end = time + ms;
      for (;;) {
        const [next] = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        timers = timers.filter((each) => each !== next);
        time = Math.max(time, next.at);
        next.call();
      }
      time = Math.max(time, end);
    },
  };
}

/** The keyboard's end of a terminal. */
export interface KeyStream {
  readonly isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
  on(event: "data", listener: (bytes: Buffer | string) => void): unknown;
  off(event: "data", listener: (bytes: Buffer | string) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

/** Reads single keys until it is closed. */
export interface Keys {
  /** Whether stdin is a terminal. */
  readonly able: boolean;
  take(): void;
  /** Restores the terminal: it echoes input and turns keys into signals again. */
  giveBack(): void;
}

/** @param onKey gets one character a key: letters in lower case, `\u0003` for Ctrl-C. Keys of several characters (arrows) are ignored. */
export function openKeys(stream: KeyStream, onKey: (key: string) => void): Keys {
  const able = stream.isTTY === true && stream.setRawMode !== undefined;
  let taken = false;
  const read = (bytes: Buffer | string): void => {
    const text = String(bytes);
    if (text.startsWith("\u001b")) return;
    for (const key of text.toLowerCase()) if (taken) onKey(key);
  };
  return {
    able,
    take() {
      if (!able || taken) return;
      taken = true;
      stream.setRawMode?.(true);
      stream.on("data", read);
      stream.resume();
    },
    giveBack() {
      if (!taken) return;
      taken = false;
      stream.off("data", read);
      stream.pause();
      stream.setRawMode?.(false);
    },
  };
}

/** The keys, each with a short and a long description. */
export const KEYS: readonly { key: string; long: string; short: string; means: string }[] = [
  ["p", "pause", "pause", "pause after the current step; p again continues"],
  ["s", "save", "save", "save a checkpoint after the step under way; it stays until the next"],
  ["e", "evaluate", "eval", "evaluate on held-out questions after the step under way"],
  [
    "q",
    "stop after this step",
    "stop",
    "end with a checkpoint after the current step; --resume continues",
  ],
  ["t", "next rollout", "next", "show another rollout of the step"],
  ["?", "help", "help", "show or hide this"],
  [
    "Ctrl-C",
    "interrupt",
    "end",
    "end now and keep finished steps; a second Ctrl-C kills the process",
  ],
].map(([key = "", long = "", short = "", means = ""]) => ({ key, long, short, means }));

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

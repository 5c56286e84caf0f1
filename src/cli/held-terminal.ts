/** Writes other lines above the content at the bottom of the terminal. */
type WriteAround = (write: () => void) => void;

/** The content at the bottom of the terminal, such as a progress bar; null: nothing. */
let shown: WriteAround | null = null;

/** Whether something is shown at the bottom of the terminal. */
export function isHeld(): boolean {
  return shown !== null;
}

/**
 * Reserves the bottom of the terminal; until its release no bar is drawn.
 * @param around erases the content, writes, and draws it again.
 * @returns a function to release it.
 */
export function holdTerminal(around: WriteAround): () => void {
  shown = around;
  return () => {
    if (shown === around) shown = null;
  };
}

/** Writes whole lines above the content at the bottom of the terminal. */
export function writeAroundProgress(write: () => void): void {
  if (shown === null) write();
  else shown(write);
}

/**
 * Finds where a text that grows token by token first contains one of several strings. A string may straddle tokens and start
 * or end inside one; bytes of unfinished characters wait for the rest.
 */
export interface StopText {
  /** Adds a token's bytes. @returns true when a string is complete. */
  push(bytes: Uint8Array): boolean;
}

/** @param strings none: never stops. */
export function stopText(strings: readonly string[]): StopText {
  const longest = Math.max(0, ...strings.map((each) => each.length));
  const decoder = new TextDecoder();
  let tail = "";
  return {
    push(bytes) {
      if (longest === 0) return false;
      const text = tail + decoder.decode(bytes, { stream: true });
      tail = text.slice(-(longest - 1) || text.length);
      return strings.some((each) => text.includes(each));
    },
  };
}

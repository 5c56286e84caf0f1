/** Finds the first stop string in a text that grows token by token, also across tokens; bytes of incomplete characters wait. */
export type StopText = { push(bytes: Uint8Array): boolean };

/** @param strings an empty list never stops. */
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

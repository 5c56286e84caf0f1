/** Text that arrives as bytes, a character perhaps in several pieces. */
export interface TextFlow {
  /** @returns what of the text is whole now; an unfinished character waits for the rest of its bytes. */
  push(bytes: Uint8Array): string;
  /** @returns U+FFFD for a character that was never finished. */
  end(): string;
}

/** Bytes that are no UTF-8 become U+FFFD, one for each longest beginning of a character (WHATWG); a byte-order mark stays. */
export function textFlow(): TextFlow {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return {
    push: (bytes) => decoder.decode(bytes, { stream: true }),
    end: () => decoder.decode(),
  };
}

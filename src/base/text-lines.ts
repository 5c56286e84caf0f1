import { isUtf8 } from "node:buffer";
import { openUnpacked, unreadable } from "./files.ts";

/** A line of a text file that is not blank. */
export interface TextLine {
  text: string;
  /** `file:line`, for messages. */
  where: string;
}

/**
 * The lines of a text file that are not blank, streamed; `.gz` is unpacked.
 * @throws {DataError} FILE_MISSING
 */
export async function* textLines(path: string): AsyncGenerator<TextLine> {
  try {
    for await (const { text, line } of decodedLines(openUnpacked(path))) {
      if (text.trim() !== "") yield { text, where: `${path}:${line}` };
    }
  } catch (error) {
    throw unreadable(path, error);
  }
}

/**
 * Every line of a stream, blank ones too, without its end and without a byte-order mark. Only `\n` and `\r\n` end a line: Node's
 * own readline, from version 22.15 on, also cuts at U+2028 and U+2029, which JSON has within its texts.
 *
 * @returns `line` from 1; `isText` is false where bytes are not UTF-8 (the text then has U+FFFD in their place).
 */
export async function* decodedLines(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ text: string; line: number; isText: boolean }> {
  let held: Uint8Array[] = [];
  let line = 0;
  for await (const chunk of source) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      held.push(chunk.subarray(start, end));
      yield decoded(held, (line += 1));
      held = [];
      start = end + 1;
    }
    if (start < chunk.length) held.push(chunk.subarray(start));
  }
  if (held.length > 0) yield decoded(held, line + 1);
}

/** What is wrong with bytes of JSON that are no text. */
export const NOT_TEXT =
  "its bytes are not UTF-8; `iconv -f ENCODING -t UTF-8` makes them so, or they are packed";

const LF = 0x0a;

function decoded(
  pieces: Uint8Array[],
  line: number,
): { text: string; line: number; isText: boolean } {
  const [first = new Uint8Array()] = pieces;
  const bytes =
    pieces.length > 1
      ? Buffer.concat(pieces)
      : Buffer.from(first.buffer, first.byteOffset, first.byteLength);
  const text = bytes.toString("utf8", 0, bytes.at(-1) === 0x0d ? bytes.length - 1 : bytes.length);
  return {
    text: line === 1 ? text.replace(/^\uFEFF/, "") : text,
    line,
    // Looked at only where decoding left the sign that stands for what is none.
    isText: !text.includes("\uFFFD") || isUtf8(bytes),
  };
}

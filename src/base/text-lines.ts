import { isUtf8 } from "node:buffer";
import { openUnpacked, unreadable } from "./files.ts";

/** A non-blank line of a text file. */
export interface TextLine {
  text: string;
  /** `file:line`, for messages. */
  where: string;
}

/**
 * The non-blank lines of a text file, streamed; decompresses `.gz`.
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
 * Every line of a stream, without its line end and without a byte-order mark; includes blank lines. Only `\n` and `\r\n` end a line:
 * Node's readline, from version 22.15, also splits at U+2028 and U+2029, which JSON allows inside strings.
 *
 * @returns `line` from 1; `isText` is false when the bytes are not UTF-8 (invalid bytes become U+FFFD).
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

/** The problem of JSON input that is not text. */
export const NOT_TEXT =
  "its bytes are not UTF-8; convert them with `iconv -f ENCODING -t UTF-8`, or decompress them first";

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
    // Only a decoded U+FFFD needs the check against the bytes.
    isText: !text.includes("\uFFFD") || isUtf8(bytes),
  };
}

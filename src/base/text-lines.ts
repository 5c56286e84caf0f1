import { isUtf8 } from "node:buffer";
import { NOT_TEXT, fileFormat } from "./foreign-file.ts";
import { openText } from "./open-text.ts";

/** A non-blank line of a text file. */
export interface TextLine {
  text: string;
  /** `file:line`, for messages. */
  where: string;
}

/** The non-blank lines of a text file, streamed. @throws {DataError} as `openText`; FILE_FORMAT for a line that is not UTF-8. */
export async function* textLines(path: string): AsyncGenerator<TextLine> {
  for await (const { text, line, isText } of decodedLines(openText(path))) {
    const where = `${path}:${line}`;
    if (!isText) throw fileFormat(where, NOT_TEXT, "Cut or damaged text has such bytes, too.");
    if (text.trim() !== "") yield { text, where };
  }
}

interface DecodedLine {
  text: string;
  line: number;
  /** False when the bytes are not UTF-8: invalid ones became U+FFFD. */
  isText: boolean;
}

/** Every line of a stream, split at `\n`, `\r\n` and `\r` alone: Node's readline also splits at U+2028 and U+2029, which JSON allows. */
export async function* decodedLines(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<DecodedLine> {
  let held: Uint8Array[] = [];
  let line = 1;
  const split = (isText: boolean, text: string): DecodedLine[] =>
    text.split("\r").map((part) => ({ text: part, line: line++, isText }));
  for await (const chunk of source) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      held.push(chunk.subarray(start, end));
      const { text, isText } = decoded(held, line === 1);
      if (text.includes("\r")) for (const part of split(isText, text)) yield part;
      else yield { text, line: line++, isText };
      held = [];
      start = end + 1;
    }
    if (start < chunk.length) held.push(chunk.subarray(start));
  }
  if (held.length === 0) return;
  const { text, isText } = decoded(held, line === 1);
  for (const part of split(isText, text)) yield part;
}

const LF = 0x0a;

function decoded(
  pieces: readonly Uint8Array[],
  isFirst: boolean,
): { text: string; isText: boolean } {
  const [first = new Uint8Array()] = pieces;
  const bytes =
    pieces.length > 1
      ? Buffer.concat(pieces)
      : Buffer.from(first.buffer, first.byteOffset, first.byteLength);
  const text = bytes.toString("utf8", 0, bytes.at(-1) === 0x0d ? bytes.length - 1 : bytes.length);
  return {
    text: isFirst ? text.replace(/^\uFEFF/, "") : text,
    // Only a decoded U+FFFD needs the check against the bytes.
    isText: !text.includes("\uFFFD") || isUtf8(bytes),
  };
}

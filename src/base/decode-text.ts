import { isUtf8 } from "node:buffer";
import { TextDecoder } from "node:util";
import { fileFormat, refuseForeign, TELLING_BYTES } from "./foreign-file.ts";

/** The problem of bytes that are not UTF-8. */
export const NOT_TEXT =
  "its bytes are not UTF-8; convert the file: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW (WINDOWS-1252: Western Europe; others: WINDOWS-1251, GB18030, SHIFT_JIS)";

/** The decoder by a file's first bytes, at least `TELLING_BYTES` or all: UTF-16 by its mark, else null (UTF-8). @throws FILE_FORMAT */
export function decoderOf(path: string, start: Buffer): TextDecoder | null {
  refuseForeign(path, start);
  const mark = start.toString("latin1", 0, 4);
  const isWide = mark === "\xff\xfe\0\0";
  if (!isWide && mark.startsWith("\xff\xfe")) return new TextDecoder("utf-16le", { fatal: true });
  if (!isWide && mark.startsWith("\xfe\xff")) return new TextDecoder("utf-16be", { fatal: true });
  if (!start.subarray(0, TELLING_BYTES).includes(0)) return null;
  const guess = isWide ? "UTF-32" : mark.startsWith("\0") ? "UTF-16BE" : "UTF-16LE";
  throw fileFormat(
    path,
    "has NUL bytes, so it is not UTF-8 text",
    `If it is text, convert it: iconv -f ${guess} -t UTF-8 ${path} > NEW.`,
  );
}

/** @throws {DataError} FILE_FORMAT when the bytes are not what their byte-order mark says. */
export function decoded(path: string, decoder: TextDecoder, bytes?: Buffer): string {
  try {
    return decoder.decode(bytes, { stream: bytes !== undefined });
  } catch (error) {
    const found = `is not ${decoder.encoding.toUpperCase()}, as its first bytes say`;
    throw fileFormat(path, found, "Save it again, as UTF-8.", error);
  }
}

/** The text of a whole file, without a byte-order mark. @throws {DataError} FILE_FORMAT when it is not text. */
export function decodeText(path: string, bytes: Buffer): string {
  const decoder = decoderOf(path, bytes);
  if (decoder !== null) return decoded(path, decoder, bytes) + decoded(path, decoder);
  const text = bytes.toString("utf8").replace(/^\uFEFF/, "");
  if (!text.includes("\uFFFD") || isUtf8(bytes)) return text;
  throw fileFormat(
    path,
    NOT_TEXT.replace("FILE", path),
    "Cut or damaged text has such bytes, too.",
  );
}

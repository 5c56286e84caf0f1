import { isUtf8 } from "node:buffer";
import { open } from "node:fs/promises";
import { TextDecoder } from "node:util";
import { DataError } from "./errors.ts";

/** Bytes from the start of a file that tell what it is. */
export const TELLING_BYTES = 512;

type Kind = { magic: string; at?: number; is: string; advice: string };

const UNPACK = "Unpack it first:";

const KINDS: readonly Kind[] = [
  {
    magic: "version https://git-lfs.github.com/spec/",
    is: "a Git LFS pointer, not the file itself",
    advice: "Run `git lfs pull` in its repository, or download the file.",
  },
  {
    magic: "/annex/objects/",
    is: "a git-annex pointer, not the file itself",
    advice: "Run `git annex get` in its repository.",
  },
  {
    magic: "PK\x03\x04",
    is: "a zip archive or an Excel workbook",
    advice: `${UNPACK} unzip FILE; or save the workbook as CSV.`,
  },
  { magic: "ustar", at: 257, is: "a tar archive", advice: `${UNPACK} tar -xf FILE.` },
  { magic: "\x1f\x8b", is: "compressed by gzip twice", advice: `${UNPACK} gunzip FILE.` },
  { magic: "\x28\xb5\x2f\xfd", is: "compressed by zstd", advice: `${UNPACK} zstd -d FILE.` },
  { magic: "BZh", is: "compressed by bzip2", advice: `${UNPACK} bunzip2 FILE.` },
  { magic: "\xfd7zXZ\x00", is: "compressed by xz", advice: `${UNPACK} unxz FILE.` },
  { magic: "\x04\x22\x4d\x18", is: "compressed by lz4", advice: `${UNPACK} lz4 -d FILE.` },
  { magic: "7z\xbc\xaf\x27\x1c", is: "a 7-Zip archive", advice: `${UNPACK} 7z x FILE.` },
  { magic: "Rar!\x1a\x07", is: "a RAR archive", advice: `${UNPACK} unrar x FILE.` },
  { magic: "PAR1", is: "a Parquet file", advice: "Give it a name that ends in .parquet." },
  {
    magic: "ARROW1",
    is: "an Arrow file",
    advice: "Convert it to Parquet: pandas.read_feather(FILE).to_parquet(NEW).",
  },
  {
    magic: "SQLite format 3\x00",
    is: "an SQLite database",
    advice: 'Export a table as CSV: sqlite3 -csv -header FILE "select * from TABLE" > NEW.',
  },
  {
    magic: "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    is: "an old Excel or Word document",
    advice: "Save it as CSV or as text.",
  },
];

/** Refuses a file whose first bytes (`start`, at least `TELLING_BYTES` or all) say that it has another format. @throws FILE_FORMAT */
export function refuseForeign(path: string, start: Uint8Array): void {
  const found = KINDS.find(({ magic, at = 0 }) => {
    return Buffer.from(start.subarray(at, at + magic.length)).toString("latin1") === magic;
  });
  if (found === undefined) return;
  throw fileFormat(path, `is ${found.is}`, found.advice.replace("FILE", path));
}

/** `refuseForeign` for a reader that failed; passes where the file cannot be read. @param own the first bytes of the reader's own format. */
export async function refuseForeignFile(path: string, own: string): Promise<void> {
  const file = await open(path).catch(() => null);
  if (file === null) return;
  const start = Buffer.alloc(TELLING_BYTES);
  try {
    const { bytesRead } = await file.read(start, 0, TELLING_BYTES, 0);
    if (!start.toString("latin1").startsWith(own))
      refuseForeign(path, start.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

/** FILE_FORMAT: the file has another format or encoding than its reader takes. */
export function fileFormat(
  path: string,
  found: string,
  advice: string,
  cause?: unknown,
): DataError {
  return new DataError("FILE_FORMAT", `${path}: ${found}. ${advice}`, { cause });
}

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

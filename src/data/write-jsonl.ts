import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { writeAtomic } from "../base/files.ts";

export interface WrittenFile {
  records: number;
  bytes: number;
  sha256: string;
}

/** Characters per write; in a gzip file each piece is a member of its own. */
const PIECE = 1 << 16;

/**
 * Writes records as JSON lines, streamed in bounded memory and atomically; compresses when the name ends in `.gz`, because readers
 * decide by the name.
 * @param signal stops between records; no file remains.
 * @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function writeJsonl(
  path: string,
  records: Iterable<object> | AsyncIterable<object>,
  signal?: AbortSignal,
): Promise<WrittenFile> {
  const hash = createHash("sha256");
  const written: WrittenFile = { records: 0, bytes: 0, sha256: "" };
  await writeAtomic(path, async (write) => {
    let piece = "";
    const flush = async (): Promise<void> => {
      const text = Buffer.from(piece, "utf8");
      const bytes = path.endsWith(".gz") ? gzipSync(text) : text;
      piece = "";
      hash.update(bytes);
      written.bytes += bytes.length;
      await write(bytes);
      signal?.throwIfAborted();
    };
    for await (const record of records) {
      piece += `${JSON.stringify(record)}\n`;
      written.records += 1;
      if (piece.length >= PIECE) await flush();
    }
    await flush();
  });
  return { ...written, sha256: hash.digest("hex") };
}

import { openUnpacked } from "../../base/files.ts";
import { DataError } from "../../base/errors.ts";

const BLOCK = 512;

/**
 * The bytes of the first file of a tar archive (`.tar`, `.tar.gz`, `.tgz`) whose path is wanted, streamed; what comes before it is
 * read past. Nothing after it is read.
 *
 * @returns null when the archive ends without it.
 * @throws {DataError} DATASET_ARCHIVE
 */
export async function tarContent(
  archive: string,
  wanted: (path: string) => boolean,
): Promise<{ path: string; size: number; bytes: AsyncGenerator<Buffer> } | null> {
  const reader = new BlockReader(openUnpacked(archive), archive);
  let longName: string | null = null;
  for (;;) {
    const header = await reader.exactly(BLOCK);
    if (header === null || header.every((byte) => byte === 0)) {
      reader.close();
      return null;
    }
    const size = sizeIn(header);
    if (Number.isNaN(size)) throw damaged(archive);
    const type = String.fromCharCode(header[156] ?? 0);
    const padded = Math.ceil(size / BLOCK) * BLOCK;
    if (type === "L" || type === "x") {
      const content = (await reader.exactly(padded))?.toString("utf8", 0, size) ?? "";
      longName = type === "L" ? content.replace(/\0.*$/s, "") : paxPath(content);
      continue;
    }
    const path = longName ?? nameIn(header);
    longName = null;
    if ((type === "0" || type === "\0") && wanted(path))
      return { path, size, bytes: reader.content(size) };
    await reader.skip(padded);
  }
}

/** Takes bytes from a stream in the amounts that are asked for. */
class BlockReader {
  readonly #stream: ReturnType<typeof openUnpacked>;
  readonly #chunks: AsyncIterator<Buffer, undefined>;
  readonly #archive: string;
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: ReturnType<typeof openUnpacked>, archive: string) {
    this.#stream = stream;
    this.#chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
    this.#archive = archive;
  }

  /** Null at the end of the archive. */
  async exactly(length: number): Promise<Buffer | null> {
    const pieces: Buffer[] = [];
    for await (const piece of this.#pieces(length)) pieces.push(piece);
    const all = Buffer.concat(pieces);
    if (all.length === length) return all;
    if (all.length === 0) return null;
    throw damaged(this.#archive);
  }

  async skip(length: number): Promise<void> {
    let left = length;
    for await (const piece of this.#pieces(length)) left -= piece.length;
    if (left > 0) throw damaged(this.#archive);
  }

  async *content(size: number): AsyncGenerator<Buffer> {
    try {
      let left = size;
      for await (const piece of this.#pieces(size)) {
        left -= piece.length;
        yield piece;
      }
      if (left > 0) throw damaged(this.#archive);
    } finally {
      this.close();
    }
  }

  close(): void {
    this.#stream.destroy();
  }

  async *#pieces(length: number): AsyncGenerator<Buffer> {
    let left = length;
    while (left > 0) {
      if (this.#rest.length === 0) {
        const next = await this.#next();
        if (next === null) return;
        this.#rest = next;
      }
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }

  async #next(): Promise<Buffer | null> {
    try {
      const next: IteratorResult<Buffer, undefined> = await this.#chunks.next();
      return next.done === true ? null : next.value;
    } catch (error) {
      throw damaged(this.#archive, error);
    }
  }
}

/** Octal digits, or from a first byte of 128 on a big-endian number. */
function sizeIn(header: Buffer): number {
  const field = header.subarray(124, 136);
  if (((field[0] ?? 0) & 0x80) !== 0) return Number(field.readBigUInt64BE(4));
  return Number.parseInt(text(field), 8);
}

function nameIn(header: Buffer): string {
  const prefix = text(header.subarray(257, 262)) === "ustar" ? text(header.subarray(345, 500)) : "";
  const name = text(header.subarray(0, 100));
  return prefix === "" ? name : `${prefix}/${name}`;
}

function text(field: Buffer): string {
  return field.toString("utf8").replace(/\0.*$/s, "").trim();
}

function paxPath(content: string): string | null {
  return /^\d+ path=(.*)$/m.exec(content)?.[1] ?? null;
}

function damaged(archive: string, cause?: unknown): DataError {
  return new DataError(
    "DATASET_ARCHIVE",
    `${archive}: it is no whole tar archive. Delete it and download it again.`,
    cause === undefined ? {} : { cause },
  );
}

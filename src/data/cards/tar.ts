import { openUnpacked } from "../../base/files.ts";
import { DataError } from "../../base/errors.ts";

const BLOCK = 512;

/**
 * The bytes of the first wanted file of a tar archive (`.tar`, `.tar.gz`, `.tgz`), streamed. The rest is not read.
 *
 * @returns null when the archive does not contain it.
 * @throws {DataError} DATASET_ARCHIVE
 */
export async function tarContent(
  archive: string,
  wanted: (path: string) => boolean,
): Promise<AsyncGenerator<Buffer> | null> {
  const files = tarFiles(archive);
  for (;;) {
    const next = await files.next();
    if (next.done === true) return null;
    if (wanted(next.value.path)) return endingWith(next.value.content, files);
  }
}

/** A file of an archive; its content is read before the next file, or not at all. */
interface TarFile {
  path: string;
  content: AsyncGenerator<Buffer>;
}

/** The files of a tar archive, in its order, streamed. @throws {DataError} DATASET_ARCHIVE */
export async function* tarFiles(archive: string): AsyncGenerator<TarFile, undefined> {
  const reader = new BlockReader(archive);
  let longName: string | null = null;
  try {
    for (;;) {
      const header = await reader.exactly(BLOCK);
      if (header === null || header.every((byte) => byte === 0)) return;
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
      const isFile = type === "0" || type === "\0";
      const content = reader.content(size, padded);
      if (isFile) yield { path, content };
      for await (const _ of content);
    }
  } finally {
    reader.close();
  }
}

async function* endingWith(
  content: AsyncGenerator<Buffer>,
  files: AsyncGenerator<TarFile>,
): AsyncGenerator<Buffer> {
  try {
    yield* content;
  } finally {
    await files.return(undefined);
  }
}

class BlockReader {
  readonly #archive: string;
  readonly #chunks: AsyncGenerator<Buffer, undefined>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(archive: string) {
    this.#archive = archive;
    this.#chunks = openUnpacked(archive) as AsyncGenerator<Buffer, undefined>;
  }

  /** Null at the end of the archive. */
  async exactly(length: number): Promise<Buffer | null> {
    if (this.#rest.length === 0 && !(await this.#fill())) return null;
    const pieces: Buffer[] = [];
    for await (const piece of this.pieces(length)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  /** The bytes of a file, whose padding is read after them. */
  async *content(size: number, padded: number): AsyncGenerator<Buffer> {
    yield* this.pieces(size);
    for await (const _ of this.pieces(padded - size));
  }

  async *pieces(length: number): AsyncGenerator<Buffer> {
    for (let left = length; left > 0;) {
      if (this.#rest.length === 0 && !(await this.#fill())) throw damaged(this.#archive);
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }

  close(): void {
    void this.#chunks.return(undefined);
  }

  /** @returns false at the end of the stream. */
  async #fill(): Promise<boolean> {
    try {
      const next: IteratorResult<Buffer, undefined> = await this.#chunks.next();
      this.#rest = next.value ?? this.#rest;
      return next.done !== true;
    } catch (error) {
      throw damaged(this.#archive, error);
    }
  }
}

/** Octal digits; a first byte of 128 or more means a big-endian number. */
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
    `${archive}: is not a complete tar archive. Delete it and download it again.`,
    { cause },
  );
}

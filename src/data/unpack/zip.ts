import { type FileHandle, open } from "node:fs/promises";
import { Transform } from "node:stream";
import { crc32, createInflateRaw } from "node:zlib";
import { DataError } from "../../base/errors.ts";

/** A file within a zip archive. */
export interface ZipEntry {
  path: string;
  /** Bytes, unpacked. */
  size: number;
  packedSize: number;
  /** 0: as it is; 8: deflate. */
  method: number;
  checksum: number;
  /** Where its own header begins. */
  offset: number;
}

const END = 0x06054b50;
const END_SIZE = 22;
const LONGEST_COMMENT = 0xffff;
const LOCATOR_64 = 0x07064b50;
const LOCATOR_64_SIZE = 20;
const DIRECTORY = 0x02014b50;
const DIRECTORY_SIZE = 46;
const HEADER_SIZE = 30;
const IN_EXTRA_32 = 0xffffffff;

/**
 * The files of a zip archive, by its directory; archives of more than 4 GB too.
 * @throws {DataError} DATASET_ARCHIVE
 */
export async function zipEntries(archive: string): Promise<ZipEntry[]> {
  const file = await open(archive);
  try {
    const { size, offset } = await directoryPlace(file, archive);
    const directory = await bytesAt(file, offset, size);
    const entries: ZipEntry[] = [];
    for (let at = 0; at + DIRECTORY_SIZE <= size;) {
      if (directory.readUInt32LE(at) !== DIRECTORY) throw damaged(archive);
      const lengths = [28, 30, 32].map((place) => directory.readUInt16LE(at + place));
      const [nameLength = 0, extraLength = 0, commentLength = 0] = lengths;
      const name = at + DIRECTORY_SIZE;
      const extra = directory.subarray(name + nameLength, name + nameLength + extraLength);
      entries.push(entryOf(directory.subarray(at, name + nameLength), extra));
      at = name + nameLength + extraLength + commentLength;
    }
    return entries;
  } catch (error) {
    throw error instanceof RangeError ? damaged(archive, error) : error;
  } finally {
    await file.close();
  }
}

/**
 * The unpacked bytes of an entry, streamed and checked against its checksum.
 * @throws {DataError} DATASET_ARCHIVE
 */
export async function* zipContent(archive: string, entry: ZipEntry): AsyncGenerator<Buffer> {
  const { method, packedSize, offset } = entry;
  if (method !== 0 && method !== 8) {
    throw damaged(archive, undefined, `${entry.path} is packed by method ${method}, not deflate`);
  }
  const file = await open(archive);
  let [size, checksum] = [0, 0];
  try {
    const header = await bytesAt(file, offset, HEADER_SIZE);
    const start = offset + HEADER_SIZE + header.readUInt16LE(26) + header.readUInt16LE(28);
    if (packedSize > 0) {
      const packed = file.createReadStream({
        ...{ start, end: start + packedSize - 1, autoClose: false },
      });
      const unpack: Transform = method === 0 ? passThrough() : createInflateRaw();
      packed.on("error", (error) => unpack.destroy(error));
      for await (const chunk of packed.pipe(unpack)) {
        const bytes = chunk as Buffer;
        size += bytes.length;
        checksum = crc32(bytes, checksum);
        yield bytes;
      }
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    // What the directory names may lie behind the end.
    throw code.startsWith("Z_") || error instanceof RangeError ? damaged(archive, error) : error;
  } finally {
    await file.close();
  }
  if (size !== entry.size || checksum !== entry.checksum)
    throw damaged(archive, undefined, `${entry.path} is not what its checksum says`);
}

function passThrough(): Transform {
  return new Transform({
    transform: (chunk, _, done) => {
      done(null, chunk);
    },
  });
}

async function directoryPlace(
  file: FileHandle,
  archive: string,
): Promise<{ size: number; offset: number }> {
  const total = (await file.stat()).size;
  const tailSize = Math.min(total, END_SIZE + LONGEST_COMMENT);
  const tail = await bytesAt(file, total - tailSize, tailSize);
  let end = tailSize - END_SIZE;
  while (end >= 0 && tail.readUInt32LE(end) !== END) end -= 1;
  if (end < 0) throw damaged(archive);
  const place = { size: tail.readUInt32LE(end + 12), offset: tail.readUInt32LE(end + 16) };
  const locator = end - LOCATOR_64_SIZE;
  if (locator < 0 || tail.readUInt32LE(locator) !== LOCATOR_64) return place;
  const end64 = await bytesAt(file, Number(tail.readBigUInt64LE(locator + 8)), 56);
  return {
    size: Number(end64.readBigUInt64LE(40)),
    offset: Number(end64.readBigUInt64LE(48)),
  };
}

function entryOf(header: Buffer, extra: Buffer): ZipEntry {
  const long = longValues(extra);
  const value = (place: number): number => {
    const short = header.readUInt32LE(place);
    return short === IN_EXTRA_32 ? (long.shift() ?? short) : short;
  };
  // Values that do not fit stand in the extra field in this order.
  const size = value(24);
  const packedSize = value(20);
  const offset = value(42);
  return {
    ...{ path: header.toString("utf8", DIRECTORY_SIZE), size, packedSize, offset },
    method: header.readUInt16LE(10),
    checksum: header.readUInt32LE(16),
  };
}

/** The numbers of a ZIP64 extra field; none when there is no such field. */
function longValues(extra: Buffer): number[] {
  for (let at = 0; at + 4 <= extra.length;) {
    const length = extra.readUInt16LE(at + 2);
    if (extra.readUInt16LE(at) === 1) {
      const count = Math.min(3, Math.floor(length / 8));
      return Array.from({ length: count }, (_, i) => Number(extra.readBigUInt64LE(at + 4 + 8 * i)));
    }
    at += 4 + length;
  }
  return [];
}

async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), position });
  return buffer.subarray(0, bytesRead);
}

function damaged(archive: string, cause?: unknown, what = "it is no whole zip archive"): DataError {
  return new DataError(
    "DATASET_ARCHIVE",
    `${archive}: ${what}. Delete it and download it again.`,
    cause === undefined ? {} : { cause },
  );
}

import { open, type FileHandle } from "node:fs/promises";
import { DataError, errorMessage } from "../base/errors.ts";
import { unreadable } from "../base/files.ts";

/** Opens a file for `use`, which keeps it open unless it throws. @throws {DataError} FILE_MISSING */
export async function openFor<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path).catch((error: unknown) => {
    const message = `${path}: cannot be read (${errorMessage(error)}).`;
    throw new DataError("FILE_MISSING", message, { cause: error });
  });
  try {
    return await use(file);
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Reads until the buffer is full: one call reads at most 2 GiB.
 * @param bad makes the error for a file that ends before.
 */
export async function readFully(
  file: FileHandle,
  bytes: Uint8Array,
  position: number,
  bad: (what: string) => Error,
): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const length = Math.min(bytes.length - done, 2 ** 30);
    const { bytesRead } = await file.read(bytes, done, length, position + done);
    if (bytesRead === 0) throw bad(`was truncated during the read, at byte ${position + done}`);
    done += bytesRead;
  }
}

/** The first 64 bytes of a file; zeros behind its end. @throws {DataError} FILE_MISSING for a folder. */
export async function startOf(file: FileHandle, path: string): Promise<Buffer> {
  const start = Buffer.alloc(64);
  await file.read(start, 0, start.length, 0).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  return start;
}

import { statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/** Bytes that may still be written where `path` is or will be; Infinity where no folder above it exists. */
export async function freeDiskBytes(path: string): Promise<number> {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    const found = await statfs(folder).catch(() => null);
    if (found !== null) return found.bavail * found.bsize;
    if (folder === dirname(folder)) return Infinity;
  }
}

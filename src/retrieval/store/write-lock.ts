import { ExternalError } from "../../base/errors.ts";
import { lockFolder } from "../../base/folder-lock.ts";

const LOCK = "write.lock";

/**
 * Runs `work` as the only writer of an index folder. Readers need no lock. A lock whose process is gone is taken over.
 * @throws {ExternalError} INDEX_BUSY when another process, or another call in this one, is writing.
 */
export async function withWriteLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const lock = lockFolder(
    folder,
    LOCK,
    ({ mark, path }) =>
      new ExternalError(
        "INDEX_BUSY",
        `${folder}: process ${mark} is changing this index. Wait until it is done; if it is not running any more, remove ${path}.`,
      ),
  );
  try {
    return await work();
  } finally {
    lock.release();
  }
}

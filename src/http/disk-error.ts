/** What writing files fails with; connections have codes of their own. */
const CODES = new Set([
  ...["EACCES", "EDQUOT", "EFBIG", "EIO", "EISDIR", "EMFILE", "ENFILE", "ENOENT", "ENOSPC"],
  ...["ENOTDIR", "EPERM", "EROFS"],
]);

/** Whether a failure is the disk's, and not the network's. */
export function isDiskError(error: unknown): boolean {
  return error instanceof Error && "code" in error && CODES.has(String(error.code));
}

/** What is wrong with a file that Git LFS left in place of its content, and the cure. */
export const LFS_POINTER =
  "is a Git LFS pointer, not the file. Fetch the file in its repository with: git lfs pull";

const START = "version https://git-lfs.github.com/spec/";

/** Whether a file is a pointer of Git LFS. @param start its first bytes, at least 50 of them. */
export function isLfsPointer(start: Uint8Array): boolean {
  return Buffer.from(start.subarray(0, START.length)).toString("latin1") === START;
}

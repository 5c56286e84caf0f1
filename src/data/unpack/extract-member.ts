import { DataError } from "../../base/errors.ts";
import { writeAtomic } from "../../base/files.ts";
import { tarContent } from "./tar.ts";
import { zipContent, zipEntries } from "./zip.ts";

/**
 * Writes one file of an archive (.zip, .tar, .tar.gz, .tgz); it appears whole or not at all.
 *
 * @param member the end of its path: "dev.json" is that of "data/dev.json" and not of "my-dev.json".
 * @throws {DataError} DATASET_ARCHIVE when the archive is damaged or has no such file.
 * @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function extractMember(
  archive: string,
  member: string,
  out: string,
  signal?: AbortSignal,
): Promise<void> {
  const isWanted = (path: string): boolean =>
    !path.startsWith("__MACOSX/") && (path === member || path.endsWith(`/${member}`));
  const content = await (/\.(tar|tar\.gz|tgz)$/.test(archive)
    ? tarContent(archive, isWanted).then((found) => found?.bytes ?? null)
    : zipMember(archive, isWanted));
  if (content === null) {
    throw new DataError(
      "DATASET_ARCHIVE",
      `${archive}: holds no file "${member}". What is offered under this address has changed; another source of the dataset may do: --source.`,
    );
  }
  await writeAtomic(out, async (write) => {
    for await (const bytes of content) {
      await write(bytes);
      signal?.throwIfAborted();
    }
  });
}

async function zipMember(
  archive: string,
  isWanted: (path: string) => boolean,
): Promise<AsyncGenerator<Buffer> | null> {
  const entry = (await zipEntries(archive)).find(({ path }) => isWanted(path));
  return entry === undefined ? null : zipContent(archive, entry);
}

import { crc32 } from "node:zlib";
import { openPromise, type ZipFile } from "yauzl";
import { DataError, errorMessage } from "../../base/errors.ts";
import { writeAtomic } from "../../base/files.ts";
import { tarContent } from "./tar.ts";

/**
 * Extracts one file of an archive (.zip, .tar, .tar.gz, .tgz), atomically.
 *
 * @param member the end of its path: "dev.json" matches "data/dev.json" but not "my-dev.json".
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
  const isTar = /\.(tar|tar\.gz|tgz)$/.test(archive);
  const content = await (isTar ? tarContent(archive, isWanted) : zipContent(archive, isWanted));
  if (content === null)
    throw new DataError(
      "DATASET_ARCHIVE",
      `${archive}: contains no file "${member}". The archive at this address has changed; choose another source of the dataset with --source.`,
    );
  await writeAtomic(out, async (write) => {
    for await (const bytes of content) {
      await write(bytes);
      signal?.throwIfAborted();
    }
  });
}

/** The bytes of the first wanted file of a zip archive; null when it has none. */
async function zipContent(
  archive: string,
  wanted: (path: string) => boolean,
): Promise<AsyncGenerator<Buffer> | null> {
  const zip = await openPromise(archive, { lazyEntries: true, autoClose: false }).catch(
    (error: unknown) => {
      throw damaged(archive, error);
    },
  );
  try {
    for await (const entry of zip.eachEntry()) {
      if (wanted(entry.fileName)) return checkedContent(archive, zip, entry);
    }
  } catch (error) {
    zip.close();
    throw damaged(archive, error);
  }
  zip.close();
  return null;
}

/** yauzl checks the size of decompressed data, but not its checksum. */
async function* checkedContent(
  archive: string,
  zip: ZipFile,
  entry: Parameters<ZipFile["openReadStreamPromise"]>[0],
): AsyncGenerator<Buffer> {
  let checksum = 0;
  try {
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      checksum = crc32(chunk as Buffer, checksum);
      yield chunk as Buffer;
    }
    if (checksum !== entry.crc32) throw new Error(`the checksum of ${entry.fileName} is wrong`);
  } catch (error) {
    throw damaged(archive, error);
  } finally {
    zip.close();
  }
}

function damaged(archive: string, cause: unknown): DataError {
  return new DataError(
    "DATASET_ARCHIVE",
    `${archive}: is not a complete zip archive (${errorMessage(cause)}). Delete it and download it again.`,
    { cause },
  );
}

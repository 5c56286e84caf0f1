import { rm } from "node:fs/promises";
import { DataError } from "../../base/errors.ts";
import { sha256File } from "../../base/files.ts";
import { checkFile } from "../check-file.ts";
import { corpusLayoutOf } from "../file-layout.ts";
import { readRecords } from "../records.ts";
import type { CardFile } from "./card.ts";

export interface Content {
  records: number;
  /** Records that are not valid questions. */
  unusable: number;
}

export interface Expectation {
  what: string;
  file: CardFile;
  kind: "questions" | "corpus";
  /** Whether this command downloaded it: then a wrong file is removed. Other files may belong to the user. */
  isOurs: boolean;
  /** The archive it comes from, if any: it is kept, because it may contain other files. */
  archive: string | null;
  /** Checked here too, if no one has checked it. */
  sha256: string | undefined;
}

/**
 * Verifies a file's layout and number of records.
 * @throws {DataError} DATASET_UNEXPECTED
 */
export async function requireExpected(
  path: string,
  expectation: Expectation,
  signal: AbortSignal | undefined,
): Promise<Content> {
  const { what, file, kind, isOurs, archive, sha256 } = expectation;
  const found =
    kind === "corpus" ? await countPassages(path, signal) : await countQuestions(path, signal);
  const isKnown = sha256 === undefined || (await sha256File(path)) === sha256;
  if (found.layout === file.layout && found.records === file.records && isKnown) return found;
  const unit = kind === "corpus" ? "passages" : "questions";
  const holds = `${found.records} ${unit} of layout ${found.layout ?? "unknown"}`;
  const published = `${file.records} of layout ${file.layout}${sha256 === undefined ? "" : ` with sha256 ${sha256}`}`;
  const kept =
    archive === null ? "" : ` The archive was kept: delete ${archive} to download it again.`;
  if (isOurs) await rm(path, { force: true });
  throw new DataError(
    "DATASET_UNEXPECTED",
    isOurs
      ? `${what}: ${file.url} contains ${holds}, but the published file has ${published}. It was removed.${kept} Choose another source with --source, or pass the path of a file instead of the dataset's name.`
      : `${what}: ${path} already exists and contains ${holds}, but the published file has ${published}. Move it away and run the command again, or choose another --out.`,
  );
}

async function countQuestions(
  path: string,
  signal: AbortSignal | undefined,
): Promise<Content & { layout: string | null }> {
  const { layout, records, problems } = await checkFile(path, { signal });
  return { layout, records, unusable: problems.length };
}

/** Does not compare the ids of millions of passages; building an index does. */
async function countPassages(
  path: string,
  signal: AbortSignal | undefined,
): Promise<Content & { layout: string | null }> {
  let records = 0;
  let layout: string | null = null;
  for await (const { record } of readRecords(path)) {
    if (records === 0) layout = corpusLayoutOf(record)?.name ?? null;
    records += 1;
    if (records % 1000 === 0) signal?.throwIfAborted();
  }
  return { layout, records, unusable: 0 };
}

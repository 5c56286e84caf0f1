import { rm } from "node:fs/promises";
import { DataError } from "../../base/errors.ts";
import { sha256File } from "../../base/files.ts";
import { checkFile } from "../check-file.ts";
import { corpusLayoutOf } from "../passages.ts";
import { readRecords } from "../records.ts";
import type { CardFile } from "./card.ts";

/** What a downloaded file holds. */
export interface Content {
  records: number;
  /** Records that no question can be made of. */
  unusable: number;
}

/** What a file of a dataset should be. */
export interface Expectation {
  what: string;
  file: CardFile;
  kind: "questions" | "corpus";
  /** Whether it was downloaded just now: then it is removed when it is something else. Others may be somebody's own. */
  isOurs: boolean;
  /** Where it was taken from, if it was: that is kept, for the sake of what else it holds. */
  archive: string | null;
  /** To be checked too, where nobody has. */
  sha256: string | undefined;
}

/**
 * Holds a file against layout and size as published.
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
    archive === null ? "" : ` The archive was: delete ${archive} to have it fetched anew.`;
  if (isOurs) await rm(path, { force: true });
  throw new DataError(
    "DATASET_UNEXPECTED",
    isOurs
      ? `${what}: ${file.url} holds ${holds}; published are ${published}. It was not kept.${kept} Take another source with --source, or give the file itself where a dataset is named.`
      : `${what}: ${path} lies there already and holds ${holds}; published are ${published}. Move it away and run again, or choose another --out.`,
  );
}

async function countQuestions(
  path: string,
  signal: AbortSignal | undefined,
): Promise<Content & { layout: string | null }> {
  const { layout, records, problems } = await checkFile(path, signal);
  return { layout, records, unusable: problems.length };
}

/** Ids of millions of passages are not compared; building an index does that. */
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

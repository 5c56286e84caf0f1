import { rm } from "node:fs/promises";
import { DataError } from "../../base/errors.ts";
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

/**
 * Holds a downloaded file against layout and size as published; one that differs is removed.
 * @throws {DataError} DATASET_UNEXPECTED
 */
export async function requireExpected(
  path: string,
  { what, file, kind }: { what: string; file: CardFile; kind: "questions" | "corpus" },
  signal: AbortSignal | undefined,
): Promise<Content> {
  const found =
    kind === "corpus" ? await countPassages(path, signal) : await countQuestions(path, signal);
  if (found.layout === file.layout && found.records === file.records) return found;
  await rm(path, { force: true });
  const unit = kind === "corpus" ? "passages" : "questions";
  throw new DataError(
    "DATASET_UNEXPECTED",
    `${what}: ${file.url} holds ${found.records} ${unit} of layout ${found.layout ?? "unknown"}; published are ${file.records} of layout ${file.layout}. It was not kept. Take another source with --source, or give the file itself where a dataset is named.`,
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

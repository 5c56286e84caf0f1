import { whileUnchanged } from "../store/index-folder.ts";
import type { Passage } from "../../trajectory/task.ts";
import { createBm25, type Bm25Retriever } from "./bm25.ts";
import { isSet } from "./dead-file.ts";
import { analyzerOf, type IndexManifest, readBm25Manifest } from "./index-manifest.ts";
import { type FolderSegment, openSegment } from "./segment.ts";

export interface OpenIndex {
  manifest: IndexManifest;
  segments: FolderSegment[];
}

/**
 * Opens an index folder. It reads the manifest, the lengths of the passages (4 bytes each), every 64th term and the
 * files' checksum tables (a thousandth of their size); queries read and check postings and passages on demand.
 * Files that a later change replaces stay readable until `close`.
 *
 * @throws {DataError} INDEX_MISSING, INDEX_VERSION, INDEX_ANALYZER, INDEX_CORRUPT; searches may throw the last too.
 */
export async function openIndex(folder: string): Promise<Bm25Retriever> {
  const { manifest, segments } = await openSegments(folder);
  const { parameters, corpus } = manifest;
  try {
    const analyzer = analyzerOf(manifest, folder);
    return createBm25({ segments, analyzer, parameters, corpusSha256: corpus.sha256 });
  } catch (error) {
    await closeSegments(segments);
    throw error;
  }
}

/** The segments in the current manifest of an index. @throws {DataError} as `openIndex`. */
export function openSegments(folder: string): Promise<OpenIndex> {
  return whileUnchanged(folder, async () => {
    const manifest = await readBm25Manifest(folder);
    return { manifest, segments: openAll(folder, manifest) };
  });
}

function openAll(folder: string, manifest: IndexManifest): FolderSegment[] {
  const segments: FolderSegment[] = [];
  try {
    for (const entry of manifest.segments) segments.push(openSegment(folder, entry));
    return segments;
  } catch (error) {
    void closeSegments(segments);
    throw error;
  }
}

/** The passages of an index, in corpus order, without deleted ones. @throws {DataError} as `openIndex`. */
export async function* indexPassages(folder: string): AsyncGenerator<Passage> {
  const { segments } = await openSegments(folder);
  try {
    for (const { count, dead, passages } of segments) {
      for (let i = 0; i < count; i++) if (!isSet(dead.bits, i)) yield passages.read(i);
    }
  } finally {
    await closeSegments(segments);
  }
}

export async function closeSegments(segments: readonly FolderSegment[]): Promise<void> {
  await Promise.all(segments.map((segment) => segment.close()));
}

import { ConfigError } from "../../base/errors.ts";
import { z } from "../../base/schema.ts";
import type { Passage } from "../../trajectory/task.ts";
import { defineRetriever } from "../inner-retrievers.ts";
import type { RetrieverContext } from "../retriever.ts";
import { whileUnchanged } from "../store/index-folder.ts";
import { createBm25, type Bm25Retriever, buildBm25 } from "./bm25.ts";
import { bm25Options } from "./formula.ts";
import { analyzerOf, type IndexManifest, readBm25Manifest } from "./index-manifest.ts";
import { type FolderSegment, openSegment } from "./segment.ts";

/** An index folder, open. */
export interface OpenIndex {
  manifest: IndexManifest;
  segments: FolderSegment[];
}

/**
 * Opens an index folder. Read are the manifest, the lengths of the passages (4 bytes each), every 64th term and the
 * files' tables of checksums (a thousandth of their size); postings and passages are read, and checked, when queries
 * need them. Files that a later change replaces stay readable until `close`.
 *
 * @throws {DataError} INDEX_MISSING, INDEX_VERSION, INDEX_ANALYZER, INDEX_CORRUPT; searches can throw the last, too.
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

/** The segments of an index as its manifest names them at this moment. @throws {DataError} as `openIndex`. */
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

export async function closeSegments(segments: readonly FolderSegment[]): Promise<void> {
  await Promise.all(segments.map((segment) => segment.close()));
}

const options = bm25Options.extend({
  /** Folder made by `agentrl index build`; analyzer and parameters are then the index's own. */
  index: z.string().optional(),
});

/** BM25 over an index folder, or over the corpus at hand, in memory. */
export const bm25 = defineRetriever({
  name: "bm25",
  summary: "BM25, exact, over an index folder or over the dataset's own passages.",
  options,
  async open({ index, ...made }, context) {
    if (index === undefined) return buildBm25(await corpusOf(context), made);
    const [key] = Object.keys(made);
    if (key === undefined) return openIndex(index);
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `bm25.${key} is set beside bm25.index: an index keeps what it was built with. Drop the key, or build the index with it.`,
    );
  },
});

async function corpusOf({ corpus }: RetrieverContext): Promise<Passage[]> {
  if (corpus === undefined) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      "bm25.index is absent and there is no corpus at hand: name an index folder made by `agentrl index build`, or give the corpus (--corpus FILE).",
    );
  }
  const passages: Passage[] = [];
  for await (const passage of corpus()) passages.push(passage);
  return passages;
}

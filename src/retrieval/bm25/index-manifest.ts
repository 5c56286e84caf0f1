/**
 * The folder of a BM25 index: a manifest that lists immutable segments.
 *
 *   IDX/manifest.json
 *   IDX/segments/000001/terms.bin, term-blocks.bin   term-dictionary.ts
 *                      /postings.bin                 postings-format.ts
 *                      /lengths.u32                  [N] terms per passage
 *                      /passages.jsonl, passage-starts.f64   store/passage-file.ts
 *                      /ids.u32                      id-table.ts
 *                      /dead-000004.bin              dead-file.ts, only with deleted passages
 *
 * An append adds a segment, a deletion adds a file of deleted passages, compaction writes one new segment; each ends
 * with a new manifest. The numbers in names grow with every change and are never reused.
 */
import { join } from "node:path";
import { DataError } from "../../base/errors.ts";
import { z } from "../../base/schema.ts";
import { type Analyzer, analyzers } from "../../text/analyzer.ts";
import {
  fileEntrySchema,
  manifestBase,
  manifestPath,
  readManifest,
  writeManifest,
} from "../store/index-folder.ts";
import { syncFolder } from "../store/replace-folder.ts";

/** The files of a segment; store/passage-file.ts names those of its passages. */
export const SEGMENT_FILES = {
  terms: "terms.bin",
  termBlocks: "term-blocks.bin",
  postings: "postings.bin",
  lengths: "lengths.u32",
  passages: "passages.jsonl",
  passageStarts: "passage-starts.f64",
  ids: "ids.u32",
} as const;

export type SegmentFile = keyof typeof SEGMENT_FILES;

const segmentSchema = z.strictObject({
  /** Name of its folder under segments/. */
  name: z.string(),
  /** N, including deleted passages. */
  passages: z.int().min(1),
  terms: z.int().min(0),
  postings: z.int().min(0),
  /** Sum and maximum of `lengths`; the bounds of postings assume their mean. */
  totalLength: z.int().min(0),
  longest: z.int().min(0),
  files: z.record(z.enum(Object.keys(SEGMENT_FILES) as SegmentFile[]), fileEntrySchema),
  /** Only after deletions. */
  dead: z
    .strictObject({
      file: z.string(),
      entry: fileEntrySchema,
      passages: z.int().min(1),
      /** Lost part of `totalLength`. */
      totalLength: z.int().min(0),
    })
    .optional(),
});

const manifestSchema = z.strictObject({
  ...manifestBase,
  kind: z.literal("bm25"),
  analyzer: z.strictObject({
    name: z.string(),
    version: z.int(),
    options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  }),
  parameters: z.strictObject({
    variant: z.string(),
    k1: z.number(),
    b: z.number(),
    delta: z.number(),
  }),
  corpus: z.strictObject({
    /** Number of undeleted passages. */
    passages: z.int().min(1),
    /**
     * Initially the hash of all passages' lines in corpus order; each change is hashed together with the previous
     * hash. Equal hashes mean the same corpus; the same corpus can have several hashes, by its history.
     */
    sha256: z.string(),
  }),
  /** Number of changes so far, which is the next change's number. */
  changes: z.int().min(1),
  segments: z.array(segmentSchema).min(1),
});

/** A manifest of the current version. */
export type IndexManifest = z.output<typeof manifestSchema>;

export type IndexSegment = IndexManifest["segments"][number];

export function segmentFolder(folder: string, segment: string): string {
  return join(folder, "segments", segment);
}

export function changeName(number: number): string {
  return String(number).padStart(6, "0");
}

/** The manifest of a BM25 index. @throws {DataError} as store/index-folder.ts says. */
export function readBm25Manifest(folder: string): Promise<IndexManifest> {
  return readManifest(folder, manifestSchema);
}

/** Publishes a manifest; its files must already be on disk. */
export async function writeBm25Manifest(folder: string, manifest: IndexManifest): Promise<void> {
  for (const { name } of manifest.segments) await syncFolder(segmentFolder(folder, name));
  await syncFolder(segmentFolder(folder, ""));
  await writeManifest(folder, manifest);
}

/**
 * The analyzer of an index.
 *
 * @throws {DataError} INDEX_ANALYZER when this version's analyzer of that name is missing or different.
 */
export function analyzerOf(manifest: IndexManifest, folder: string): Analyzer {
  const stored = manifest.analyzer;
  const analyzer = analyzers.parts.find((part) => part.name === stored.name);
  if (analyzer !== undefined && describe(analyzer) === describe(stored)) return analyzer;
  const here =
    analyzer === undefined
      ? `this version has no such analyzer`
      : `this version has ${describe(analyzer)}`;
  throw new DataError(
    "INDEX_ANALYZER",
    `${manifestPath(folder)}: made by analyzer ${describe(stored)}; ${here}. Queries and passages need the same analyzer: build the index again. Analyzers: ${analyzers.names.join(", ")}.`,
  );
}

function describe({ name, version, options }: IndexManifest["analyzer"] | Analyzer): string {
  const settings = Object.keys(options)
    .sort()
    .map((key) => `${key} ${String(options[key])}`);
  return `"${name}" version ${version} (${settings.join(", ")})`;
}

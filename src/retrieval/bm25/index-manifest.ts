/**
 * The index folder: `manifest.json` naming immutable segments. A segment is written once and never changed; the
 * manifest is what makes it part of the index. Later versions may name several segments and, per segment, deletions.
 *
 *   IDX/manifest.json
 *   IDX/segments/000001/terms.txt           terms in code-unit order, one a line; a term's line is its row
 *                      /starts.u32          [rows + 1] first posting of each row
 *                      /positions.u32       [postings] passages, ascending within a row
 *                      /frequencies.u16     [postings] occurrences in the passage
 *                      /lengths.u32         [N] terms per passage
 *                      /passages.jsonl      passages in corpus order: {"id", "title", "text"}
 *                      /passage-starts.f64  [N + 1] byte offset of each line of passages.jsonl
 *
 * Numbers are little-endian, without headers: a file is its array.
 */
import { join } from "node:path";
import { DataError } from "../../base/errors.ts";
import { readJson } from "../../base/files.ts";
import { checkOptions, z } from "../../base/schema.ts";
import { type Analyzer, analyzers } from "../../text/analyzer.ts";

/** What `index build` writes and this version reads. */
export const INDEX_VERSION = 1;

/** Every file of a segment. */
export const SEGMENT_FILES = {
  terms: "terms.txt",
  starts: "starts.u32",
  positions: "positions.u32",
  frequencies: "frequencies.u16",
  lengths: "lengths.u32",
  passages: "passages.jsonl",
  passageStarts: "passage-starts.f64",
} as const;

/** Key of a segment's file. */
export type SegmentFile = keyof typeof SEGMENT_FILES;

const fileSchema = z.strictObject({ bytes: z.int().min(0), sha256: z.string() });

const segmentSchema = z.strictObject({
  /** Name of its folder under segments/. */
  name: z.string(),
  /** N. */
  passages: z.int().min(1),
  /** Rows. */
  terms: z.int().min(0),
  postings: z.int().min(0),
  files: z.record(z.enum(Object.keys(SEGMENT_FILES) as SegmentFile[]), fileSchema),
});

const manifestSchema = z.strictObject({
  format: z.literal("agentrl-index"),
  version: z.literal(INDEX_VERSION),
  kind: z.literal("bm25"),
  analyzer: z.strictObject({
    name: z.string(),
    version: z.int(),
    options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  }),
  parameters: z.strictObject({ k1: z.number(), b: z.number() }),
  corpus: z.strictObject({
    passages: z.int().min(1),
    /** Of all passages' lines in corpus order; two indexes with equal hashes hold the same corpus. */
    sha256: z.string(),
  }),
  /** This version reads exactly one. */
  segments: z.array(segmentSchema).length(1),
});

/** A manifest of the current version. */
export type IndexManifest = z.output<typeof manifestSchema>;

/** A manifest's entry for one segment. */
export type IndexSegment = IndexManifest["segments"][number];

/** Path of the manifest. */
export function manifestPath(folder: string): string {
  return join(folder, "manifest.json");
}

/** Path of a segment's file. */
export function segmentPath(folder: string, segment: string, file: SegmentFile): string {
  return join(folder, "segments", segment, SEGMENT_FILES[file]);
}

/**
 * Reads and checks `manifest.json`.
 *
 * @throws {DataError} INDEX_MISSING when the folder has none, INDEX_VERSION when another version wrote it,
 *   INDEX_CORRUPT when it does not say what it must.
 */
export async function readManifest(folder: string): Promise<IndexManifest> {
  const path = manifestPath(folder);
  const value = await readJson(path).catch((error: unknown) => {
    if (error instanceof DataError && error.code === "FILE_NOT_JSON") {
      throw corrupt(error.message, error);
    }
    throw new DataError(
      "INDEX_MISSING",
      `${folder}: is not an index: it has no manifest.json. Make one with \`agentrl index build CORPUS.jsonl --out ${folder}\`.`,
      { cause: error },
    );
  });
  const version = versionOf(value);
  if (version !== undefined && version !== INDEX_VERSION) {
    throw new DataError(
      "INDEX_VERSION",
      `${path}: index format ${version}; this version of agentrl reads format ${INDEX_VERSION}. Build the index again, or use the version of agentrl that made it.`,
    );
  }
  const checked = checkOptions(manifestSchema, value);
  if (checked.problem === null) return checked.value;
  throw corrupt(`${[path, ...checked.problem.path].join(".")} ${checked.problem.message}`);
}

/**
 * The analyzer that made an index, and no other.
 *
 * @throws {DataError} INDEX_ANALYZER when this version's analyzer of that name would give other terms.
 */
export function analyzerOf(manifest: IndexManifest, folder: string): Analyzer {
  const stored = manifest.analyzer;
  const analyzer = analyzers.parts.find((part) => part.name === stored.name);
  if (analyzer !== undefined && describe(analyzer) === describe(stored)) return analyzer;
  const here =
    analyzer === undefined ? `there is none of that name here` : `here it is ${describe(analyzer)}`;
  throw new DataError(
    "INDEX_ANALYZER",
    `${manifestPath(folder)}: made by analyzer ${describe(stored)}; ${here}. Queries must be analysed as the passages were: build the index again. Analyzers: ${analyzers.names.join(", ")}.`,
  );
}

/** An error for a damaged file, with what to do. */
export function corrupt(what: string, cause?: unknown): DataError {
  return new DataError(
    "INDEX_CORRUPT",
    `${what.replace(/\.$/, "")}. Build the index again; an index is never changed by hand.`,
    { cause },
  );
}

function describe({ name, version, options }: IndexManifest["analyzer"] | Analyzer): string {
  const settings = Object.keys(options)
    .sort()
    .map((key) => `${key} ${String(options[key])}`);
  return `"${name}" version ${version} (${settings.join(", ")})`;
}

function versionOf(value: unknown): string | number | undefined {
  if (typeof value !== "object" || value === null || !("version" in value)) return undefined;
  const { version } = value;
  return typeof version === "number" || typeof version === "string" ? version : undefined;
}

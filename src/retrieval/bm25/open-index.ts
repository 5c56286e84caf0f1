import { open, stat } from "node:fs/promises";
import { errorMessage } from "../../base/errors.ts";
import { sha256 } from "../../base/files.ts";
import { type Bm25Retriever, createBm25 } from "./bm25.ts";
import {
  analyzerOf,
  corrupt,
  type IndexSegment,
  readManifest,
  type SegmentFile,
  SEGMENT_FILES,
  segmentPath,
} from "./index-manifest.ts";
import type { InvertedIndex } from "./inverted-index.ts";
import { fileStore } from "../store/passage-store.ts";

/** Loaded files are hashed up to this size; hashing 256 MiB takes about half a second. */
const CHEAP_BYTES = 256 * 1024 * 1024;

/**
 * Opens an index folder. Postings are loaded (6 bytes each, 20 per passage); passages stay on disk.
 *
 * Checked: the manifest, the analyzer, the size of every file, and the checksums of the loaded files where they total
 * at most 256 MiB; `checkIndex` checks everything.
 *
 * @throws {DataError} INDEX_MISSING, INDEX_VERSION, INDEX_ANALYZER, INDEX_CORRUPT.
 */
export async function openIndex(folder: string): Promise<Bm25Retriever> {
  const manifest = await readManifest(folder);
  const analyzer = analyzerOf(manifest, folder);
  const segment = manifest.segments[0]!;
  await checkSizes(folder, segment);
  const { index, passageStarts } = await loadSegment(folder, segment);
  const path = segmentPath(folder, segment.name, "passages");
  return createBm25({
    index,
    passages: fileStore(await open(path, "r"), passageStarts, path),
    analyzer,
    parameters: manifest.parameters,
    corpusSha256: manifest.corpus.sha256,
  });
}

/**
 * Compares every file's size with the manifest.
 * @throws {DataError} INDEX_CORRUPT
 */
async function checkSizes(folder: string, segment: IndexSegment): Promise<void> {
  for (const file of Object.keys(SEGMENT_FILES) as SegmentFile[]) {
    const path = segmentPath(folder, segment.name, file);
    const found = await stat(path).catch((error: unknown) => {
      throw corrupt(`${path}: cannot be read (${errorMessage(error)})`, error);
    });
    const { bytes } = segment.files[file];
    if (found.size !== bytes) {
      throw corrupt(`${path}: has ${found.size} bytes, the manifest says ${bytes}`);
    }
  }
}

async function loadSegment(
  folder: string,
  segment: IndexSegment,
): Promise<{ index: InvertedIndex; passageStarts: Float64Array }> {
  const { passages, terms, postings, files } = segment;
  const loaded = Object.entries(files).filter(([file]) => file !== "passages");
  const verify = loaded.reduce((total, [, { bytes }]) => total + bytes, 0) <= CHEAP_BYTES;
  const load = (file: SegmentFile, bytes: number): Promise<ArrayBuffer> =>
    loadFile(segmentPath(folder, segment.name, file), {
      bytes,
      sha256: verify ? files[file].sha256 : null,
    });
  const text = Buffer.from(await load("terms", files.terms.bytes)).toString("utf8");
  const rows = text === "" ? [] : text.slice(0, -1).split("\n");
  if (rows.length !== terms) {
    const path = segmentPath(folder, segment.name, "terms");
    throw corrupt(`${path}: holds ${rows.length} terms, the manifest says ${terms}`);
  }
  return {
    index: {
      terms: new Map(rows.map((term, row) => [term, row])),
      starts: new Uint32Array(await load("starts", 4 * (terms + 1))),
      positions: new Uint32Array(await load("positions", 4 * postings)),
      frequencies: new Uint16Array(await load("frequencies", 2 * postings)),
      lengths: new Uint32Array(await load("lengths", 4 * passages)),
    },
    passageStarts: new Float64Array(await load("passageStarts", 8 * (passages + 1))),
  };
}

/** A whole file of a known size; beyond 2 GiB too, which `readFile` refuses. */
async function loadFile(
  path: string,
  expected: { bytes: number; sha256: string | null },
): Promise<ArrayBuffer> {
  const content = new ArrayBuffer(expected.bytes);
  const bytes = new Uint8Array(content);
  const file = await open(path, "r");
  try {
    let at = 0;
    while (at < bytes.length) {
      const length = Math.min(bytes.length - at, 1 << 30);
      const { bytesRead } = await file.read(bytes, at, length, at);
      if (bytesRead === 0) throw corrupt(`${path}: ends after ${at} of ${bytes.length} bytes`);
      at += bytesRead;
    }
  } finally {
    await file.close();
  }
  if (expected.sha256 !== null && sha256(bytes) !== expected.sha256) {
    throw corrupt(`${path}: is not what was written: its checksum differs from the manifest's`);
  }
  return content;
}

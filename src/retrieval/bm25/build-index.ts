import { createHash } from "node:crypto";
import { access, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { AgentrlError, ConfigError, errorMessage, ExternalError } from "../../base/errors.ts";
import { sha256, writeFileAtomic } from "../../base/files.ts";
import type { Passage } from "../../trajectory/task.ts";
import {
  type Bm25Options,
  type CorpusCollector,
  corpusCollector,
  resolveBm25Options,
} from "./bm25.ts";
import {
  INDEX_VERSION,
  type IndexManifest,
  type IndexSegment,
  manifestPath,
  type SegmentFile,
  segmentPath,
} from "./index-manifest.ts";
import type { InvertedIndex } from "./inverted-index.ts";

/** How `buildIndex` is told what to do beyond the formula. */
export interface BuildIndexOptions extends Bm25Options {
  /** Replace an index that is already there; without it that is an error. */
  overwrite?: boolean;
  /** The corpus in messages: its path. */
  source?: string;
  signal?: AbortSignal;
  /** Called after every 1 000 passages. */
  onProgress?: (passages: number) => void;
}

type FileEntry = IndexSegment["files"][SegmentFile];

const SEGMENT = "000001";

/**
 * Builds a BM25 index folder from a stream of passages.
 *
 * The text goes to disk as it comes; the postings stay in memory until the end (about 20 bytes each). All is written
 * into a temporary folder beside `out` and renamed, so `out` is either a whole index or what it was before.
 *
 * @returns the manifest as written.
 * @throws {DataError} CORPUS_EMPTY, CORPUS_DUPLICATE_ID, PASSAGE_TOO_LONG, and what `passages` throws.
 * @throws {ConfigError} INDEX_EXISTS when `out` is there and `overwrite` is not set, or is no index; as `resolveBm25Options`.
 * @throws {ExternalError} FILE_WRITE_FAILED (disk full, no permission).
 */
export async function buildIndex(
  passages: AsyncIterable<Passage> | Iterable<Passage>,
  out: string,
  { overwrite = false, source, signal, onProgress, ...bm25 }: BuildIndexOptions = {},
): Promise<IndexManifest> {
  const target = resolve(out);
  const { analyzer, parameters } = resolveBm25Options(bm25, "index");
  if (await exists(target)) await refuseUnlessReplaceable(out, overwrite);
  const temporary = `${target}.tmp-${process.pid}`;
  try {
    const folder = join(temporary, "segments", SEGMENT);
    await mkdir(folder, { recursive: true });
    const segment = await writeSegment(passages, temporary, corpusCollector(analyzer, source), {
      signal,
      onProgress,
    });
    const { name, version, options } = analyzer;
    const manifest: IndexManifest = {
      format: "agentrl-index",
      version: INDEX_VERSION,
      kind: "bm25",
      analyzer: { name, version, options },
      parameters,
      corpus: { passages: segment.passages, sha256: segment.files.passages.sha256 },
      segments: [segment],
    };
    await writeFileAtomic(manifestPath(temporary), `${JSON.stringify(manifest, null, 2)}\n`);
    signal?.throwIfAborted();
    await moveIntoPlace(temporary, target);
    return manifest;
  } catch (error) {
    // What went wrong matters, not that the remains of it could not be removed.
    await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
    throw isSystemError(error) ? writeFailed(out, error) : error;
  }
}

/** Only an index is ever replaced, and only when asked: a slip in --out must not cost a folder. */
async function refuseUnlessReplaceable(out: string, overwrite: boolean): Promise<void> {
  const isIndex = await exists(manifestPath(out));
  if (isIndex && overwrite) return;
  const advice = isIndex
    ? "Choose another --out, or replace it with --overwrite."
    : "It is not an index, so it is never replaced: choose another --out.";
  throw new ConfigError("INDEX_EXISTS", `${out}: is already there. ${advice}`);
}

interface Watch {
  signal: AbortSignal | undefined;
  onProgress: ((passages: number) => void) | undefined;
}

async function writeSegment(
  passages: AsyncIterable<Passage> | Iterable<Passage>,
  folder: string,
  collector: CorpusCollector,
  { signal, onProgress }: Watch,
): Promise<IndexSegment> {
  const text = await textFile(segmentPath(folder, SEGMENT, "passages"));
  const starts = [0];
  try {
    for await (const passage of passages) {
      starts.push(await text.append(`${collector.add(passage)}\n`));
      if ((starts.length - 1) % 1000 !== 0) continue;
      signal?.throwIfAborted();
      onProgress?.(starts.length - 1);
    }
  } finally {
    await text.close();
  }
  const index = collector.finish();
  const write = (file: SegmentFile, bytes: Uint8Array): Promise<FileEntry> =>
    writeEntry(segmentPath(folder, SEGMENT, file), bytes);
  return {
    name: SEGMENT,
    passages: index.lengths.length,
    terms: index.terms.size,
    postings: index.positions.length,
    files: {
      ...(await writeArrays(index, write)),
      passages: text.entry(),
      passageStarts: await write("passageStarts", bytesOf(Float64Array.from(starts))),
    },
  };
}

async function writeArrays(
  { terms, starts, positions, frequencies, lengths }: InvertedIndex,
  write: (file: SegmentFile, bytes: Uint8Array) => Promise<FileEntry>,
): Promise<Omit<IndexSegment["files"], "passages" | "passageStarts">> {
  return {
    terms: await write("terms", Buffer.from([...terms.keys()].map((term) => `${term}\n`).join(""))),
    starts: await write("starts", bytesOf(starts)),
    positions: await write("positions", bytesOf(positions)),
    frequencies: await write("frequencies", bytesOf(frequencies)),
    lengths: await write("lengths", bytesOf(lengths)),
  };
}

async function writeEntry(path: string, bytes: Uint8Array): Promise<FileEntry> {
  await writeFileAtomic(path, bytes);
  return { bytes: bytes.byteLength, sha256: sha256(bytes) };
}

const BUFFERED_CHARACTERS = 1 << 20;

/** A file that grows line by line, hashed on the way. */
async function textFile(path: string) {
  const file = await open(path, "w");
  const hash = createHash("sha256");
  let waiting: string[] = [];
  let waitingCharacters = 0;
  let bytes = 0;
  const flush = async (): Promise<void> => {
    const piece = Buffer.from(waiting.join(""));
    waiting = [];
    waitingCharacters = 0;
    hash.update(piece);
    await file.writeFile(piece);
  };
  return {
    /** @returns the file's length in bytes after this line. */
    async append(line: string): Promise<number> {
      waiting.push(line);
      waitingCharacters += line.length;
      bytes += Buffer.byteLength(line);
      if (waitingCharacters >= BUFFERED_CHARACTERS) await flush();
      return bytes;
    },
    async close(): Promise<void> {
      try {
        await flush();
        await file.sync();
      } finally {
        await file.close();
      }
    },
    entry: (): FileEntry => ({ bytes, sha256: hash.digest("hex") }),
  };
}

/** Renames a finished folder to its name; an index that was there is moved aside first and then removed. */
async function moveIntoPlace(temporary: string, target: string): Promise<void> {
  const aside = `${temporary}-replaced`;
  const replaces = await exists(target);
  if (replaces) await rename(target, aside);
  try {
    await rename(temporary, target);
  } catch (error) {
    if (replaces) await rename(aside, target);
    throw error;
  }
  await syncFolder(dirname(target));
  if (replaces) await rm(aside, { recursive: true, force: true });
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function bytesOf(array: Uint32Array | Uint16Array | Float64Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && !(error instanceof AgentrlError) && "syscall" in error;
}

function writeFailed(out: string, cause: unknown): ExternalError {
  return new ExternalError(
    "FILE_WRITE_FAILED",
    `${out}: the index could not be written (${errorMessage(cause)}). Nothing was changed; free space or choose another --out. \`agentrl index plan\` tells how much it needs.`,
    { cause },
  );
}

/**
 * The passages of a segment: `passages.jsonl`, one line of JSON each ({id, title, text}, in corpus order), and
 * `passage-starts.f64`, [N + 1] byte offsets of the lines. Passages stay on disk and are read when they are hits.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { duplicateId, emptyCorpus } from "../bm25/corpus.ts";
import { equalHashes, idCollector, type IdCollector, type IdEntries } from "../bm25/id-table.ts";
import type { Passage } from "../../trajectory/task.ts";
import {
  corrupt,
  openCheckedFile,
  type CheckedFile,
  type FileEntry,
  createFile,
} from "./checked-file.ts";

const TEXT = "passages.jsonl";
const STARTS = "passage-starts.f64";

/** A manifest's entries for the two files. */
export interface PassageEntries {
  passages: FileEntry;
  passageStarts: FileEntry;
}

interface PassageWriter {
  /** N so far. */
  readonly count: number;
  /** Bytes of text so far. */
  readonly bytes: number;
  /**
   * Lines as `passageLine` gives them, each ended by a newline.
   * @param starts offset of each line within `lines`.
   */
  append(lines: Uint8Array, starts: Uint32Array): void;
  finish(): PassageEntries;
  abandon(): void;
}

/** Lines with their newlines as UTF-8, and where each starts: what `append` takes. */
function linesOf(lines: readonly string[]): { bytes: Buffer; starts: Uint32Array } {
  const units = lines.reduce((sum, { length }) => sum + length + 1, 0);
  const bytes = Buffer.allocUnsafe(3 * units);
  const starts = new Uint32Array(lines.length);
  let at = 0;
  lines.forEach((line, i) => {
    starts[i] = at;
    at += bytes.write(line, at);
    bytes[at++] = 10;
  });
  return { bytes: bytes.subarray(0, at), starts };
}

/** @param folder of the segment. */
export function passageWriter(folder: string): PassageWriter {
  const text = createFile(join(folder, TEXT));
  const offsets = createFile(join(folder, STARTS));
  let count = 0;
  return {
    get count() {
      return count;
    },
    get bytes() {
      return text.bytes;
    },
    append(lines, starts) {
      const absolute = Float64Array.from(starts, (start) => text.bytes + start);
      offsets.append(new Uint8Array(absolute.buffer));
      text.append(lines);
      count += starts.length;
    },
    finish() {
      offsets.append(new Uint8Array(Float64Array.of(text.bytes).buffer));
      return { passages: text.finish(), passageStarts: offsets.finish() };
    },
    abandon() {
      text.abandon();
      offsets.abandon();
    },
  };
}

const BATCH_PASSAGES = 1000;

/** Streams passages into the files of a folder; ids and the hash of all lines stay in memory (12 bytes per passage). */
export function passageCollector(folder: string): {
  readonly ids: IdCollector;
  /** @returns whether it is time to flush. */
  add(passage: Passage): boolean;
  flush(): void;
  finish(): { entries: PassageEntries; sha256: string };
  abandon(): void;
} {
  const writer = passageWriter(folder);
  const ids = idCollector();
  const hash = createHash("sha256");
  let lines: string[] = [];
  const flush = (): void => {
    const { bytes, starts } = linesOf(lines);
    hash.update(bytes);
    writer.append(bytes, starts);
    lines = [];
  };
  return {
    ids,
    add(passage) {
      ids.add(passage.id);
      return lines.push(passageLine(passage)) === BATCH_PASSAGES;
    },
    flush,
    finish() {
      flush();
      return { entries: writer.finish(), sha256: hash.digest("hex") };
    },
    abandon: () => writer.abandon(),
  };
}

/**
 * Opens collected passages.
 * @param source the corpus in messages.
 * @throws {DataError} CORPUS_EMPTY, CORPUS_DUPLICATE_ID
 */
export async function openCollected(
  folder: string,
  entries: PassageEntries,
  ids: IdEntries,
  source: string,
): Promise<PassageFile> {
  const { length } = ids.positions;
  if (length === 0) throw emptyCorpus(source);
  const passages = openPassages(folder, entries, length);
  for (const [first, second] of equalHashes(ids)) {
    const { id } = passages.read(first);
    if (passages.read(second).id !== id) continue;
    await passages.close();
    throw duplicateId(source, id, [first, second]);
  }
  return passages;
}

/** The lines of a segment's passages, by position. */
export interface PassageFile extends PassageStore {
  /** The line of a passage, its newline included. */
  readLine(position: number): Uint8Array;
}

/**
 * Opens the passages of a segment.
 * @param count N, as the manifest says.
 * @throws {DataError} INDEX_CORRUPT; so do its reads.
 */
export function openPassages(folder: string, entries: PassageEntries, count: number): PassageFile {
  const text = openCheckedFile(join(folder, TEXT), entries.passages);
  const starts = openCheckedFile(join(folder, STARTS), entries.passageStarts);
  if (starts.bytes !== 8 * (count + 1))
    throw corrupt(`${starts.path}: contains ${starts.bytes / 8 - 1} passages, not ${count}`);
  const pages = startPages(starts);
  const readLine = (position: number): Uint8Array =>
    text.read(pages.at(position), pages.at(position + 1));
  return {
    count,
    readLine,
    read(position) {
      const line = text.readText(pages.at(position), pages.at(position + 1));
      return parseLine(line, text.path, position);
    },
    close: () => {
      text.close();
      starts.close();
      return Promise.resolve();
    },
  };
}

const STARTS_PER_PAGE = 1024;
const PAGES_KEPT = 1024;

/** Offsets by position, 1 024 to a page; up to 8 MiB of pages are kept. */
function startPages(starts: CheckedFile): { at(position: number): number } {
  const kept = new Map<number, Float64Array>();
  const load = (page: number): Float64Array => {
    const from = 8 * STARTS_PER_PAGE * page;
    const bytes = starts.read(from, Math.min(starts.bytes, from + 8 * STARTS_PER_PAGE));
    const offsets = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
    if (kept.size === PAGES_KEPT) kept.clear();
    kept.set(page, offsets);
    return offsets;
  };
  return {
    at(position) {
      const page = Math.floor(position / STARTS_PER_PAGE);
      return (kept.get(page) ?? load(page))[position % STARTS_PER_PAGE]!;
    },
  };
}

function parseLine(line: string, path: string, position: number): Passage {
  try {
    return JSON.parse(line) as Passage;
  } catch (error) {
    throw corrupt(`${path}: passage ${position} is not JSON`, error);
  }
}

export interface PassageStore {
  /** N. */
  readonly count: number;
  /** @param position from 0 to N − 1. */
  read(position: number): Passage;
  close(): Promise<void>;
}

/** The text of a passage that is searched: title, a space, text. */
export function searchedText(passage: Passage): string {
  return `${passage.title} ${passage.text}`;
}

/** A passage as one line of JSON without its newline: what an index stores and what its corpus fingerprint hashes. */
export function passageLine({ id, title, text }: Passage): string {
  return JSON.stringify({ id, title, text });
}

export function memoryStore(passages: readonly Passage[]): PassageStore {
  return {
    count: passages.length,
    read: (position) => passages[position]!,
    close: () => Promise.resolve(),
  };
}

/** UTF-16 units of the passages that are kept, at most: some 32 to 64 MB. */
export const RECENT_UNITS = 1 << 25;

/** What a kept passage takes beside its text. */
const OWN_UNITS = 200;

/**
 * Keeps the passages that were read last: those that questions of a run have in common are found again and again. When
 * they take too much, those that were not read for longest go first.
 */
export function recentPassages(store: PassageStore, mostUnits = RECENT_UNITS): PassageStore {
  // A map's keys are in the order in which they were set; a passage that is read again is set again.
  const kept = new Map<number, Passage>();
  let units = 0;
  const forgetOldest = (): void => {
    for (const [position, passage] of kept) {
      if (units <= mostUnits) return;
      kept.delete(position);
      units -= sizeOf(passage);
    }
  };
  return {
    count: store.count,
    read(position) {
      const known = kept.get(position);
      if (known !== undefined) {
        kept.delete(position);
        kept.set(position, known);
        return known;
      }
      const passage = store.read(position);
      kept.set(position, passage);
      units += sizeOf(passage);
      forgetOldest();
      return passage;
    },
    close: () => store.close(),
  };
}

function sizeOf({ id, title, text }: Passage): number {
  return OWN_UNITS + id.length + title.length + text.length;
}

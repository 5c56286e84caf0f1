import { join } from "node:path";
import { type CheckedFile, corrupt, openCheckedFile } from "../store/checked-file.ts";
import { openPassages, type PassageStore } from "../store/passage-file.ts";
import { deadBits, type DeadPassages, NONE_DEAD, readDead } from "./dead-file.ts";
import {
  type IndexSegment,
  SEGMENT_FILES,
  type SegmentFile,
  segmentFolder,
} from "./index-manifest.ts";
import { openTermDictionary, type TermDictionary } from "./term-dictionary.ts";

/** An open segment, from files or in memory. */
export interface Segment {
  /** N, including deleted passages. */
  readonly count: number;
  /** [N] terms per passage. */
  readonly lengths: Uint32Array;
  /** Sum of the lengths, and the mean length that its bounds assume. */
  readonly totalLength: number;
  readonly longest: number;
  readonly dictionary: TermDictionary;
  readonly postings: CheckedFile;
  readonly passages: PassageStore;
  readonly dead: DeadPassages & {
    /** From `deadBits`. */
    bits: Uint32Array | null;
    /** Sum of the lengths of deleted passages. */
    totalLength: number;
  };
  close(): Promise<void>;
}

/** A segment of an index folder, with the files that index changes read. */
export interface FolderSegment extends Segment {
  readonly entry: IndexSegment;
  readonly ids: CheckedFile;
  /** The line of a passage, including its newline. */
  readLine(position: number): Uint8Array;
}

/**
 * Opens a segment: reads lengths and every 64th term; reads everything else on demand.
 * @throws {DataError} INDEX_CORRUPT
 */
export function openSegment(folder: string, entry: IndexSegment): FolderSegment {
  const own = segmentFolder(folder, entry.name);
  const closers: (() => void)[] = [];
  const open = (file: SegmentFile): CheckedFile => {
    const checked = openCheckedFile(join(own, SEGMENT_FILES[file]), entry.files[file]);
    closers.push(() => checked.close());
    return checked;
  };
  const closeAll = (): void => {
    for (const close of closers.splice(0)) close();
  };
  try {
    const passages = openPassages(own, entry.files, entry.passages);
    closers.push(() => void passages.close());
    const dead = readDeadOf(own, entry);
    return {
      entry,
      count: entry.passages,
      lengths: readLengths(open("lengths"), entry),
      totalLength: entry.totalLength,
      longest: entry.longest,
      dictionary: openTermDictionary(open("terms"), open("termBlocks"), entry.terms),
      postings: open("postings"),
      passages,
      readLine: (position) => passages.readLine(position),
      ids: open("ids"),
      dead: {
        ...dead,
        bits: deadBits(dead, entry.passages),
        totalLength: entry.dead?.totalLength ?? 0,
      },
      close: () => {
        closeAll();
        return Promise.resolve();
      },
    };
  } catch (error) {
    closeAll();
    throw error;
  }
}

function readLengths(file: CheckedFile, { passages }: IndexSegment): Uint32Array {
  if (file.bytes !== 4 * passages)
    throw corrupt(`${file.path}: contains ${file.bytes / 4} lengths for ${passages} passages`);
  const { buffer, byteOffset } = file.read(0, file.bytes);
  return new Uint32Array(buffer, byteOffset, passages);
}

function readDeadOf(own: string, { dead }: IndexSegment): DeadPassages {
  if (dead === undefined) return NONE_DEAD;
  const file = openCheckedFile(join(own, dead.file), dead.entry);
  try {
    return readDead(file);
  } finally {
    file.close();
  }
}

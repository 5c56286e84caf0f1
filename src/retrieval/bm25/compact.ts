import { setImmediate } from "node:timers/promises";
import { passageWriter } from "../store/passage-file.ts";
import { idCollector, readIds } from "./id-table.ts";
import { type PostingsSource, reserve } from "./merge-postings.ts";
import { BLOCK } from "./postings-format.ts";
import type { FolderSegment } from "./segment.ts";
import { separateMemory } from "./sum-kernel.ts";
import { TermPostings } from "./term-postings.ts";
import type { SegmentParts } from "./write-segment.ts";
import type { CheckedFile } from "../store/checked-file.ts";

const PASSAGES_PER_BATCH = 1000;

/**
 * The parts of one segment with the undeleted passages of several, in their order; writes its passages.
 * @param folder of the new segment.
 */
export async function compactedCorpus(
  segments: readonly FolderSegment[],
  folder: string,
  signal: AbortSignal | undefined,
): Promise<SegmentParts> {
  const count = segments.reduce((sum, each) => sum + each.count - each.dead.positions.length, 0);
  const lengths = new Uint32Array(count);
  const hashes = { highs: new Uint32Array(count), lows: new Uint32Array(count) };
  const out = passageWriter(folder);
  const sources: PostingsSource[] = [];
  try {
    let base = 0;
    for (const segment of segments) {
      const places = newPlaces(segment, base);
      await copyLines(segment, places, out, signal);
      placeIds(segment, places, hashes);
      segment.lengths.forEach((length, position) => {
        if (places[position] !== GONE) lengths[places[position]!] = length;
      });
      sources.push(segmentSource(segment, places));
      base += segment.count - segment.dead.positions.length;
    }
    const ids = idCollector();
    hashes.highs.forEach((high, i) => ids.addHash(high, hashes.lows[i]!));
    return { sources, lengths, ids: ids.sorted(), passages: out.finish() };
  } finally {
    out.abandon();
  }
}

const GONE = 0xffff_ffff;

/** [N] new position of every passage. */
function newPlaces({ count, dead }: FolderSegment, base: number): Uint32Array {
  const places = new Uint32Array(count);
  for (const position of dead.positions) places[position] = GONE;
  let next = base;
  for (let position = 0; position < count; position++) {
    if (places[position] !== GONE) places[position] = next++;
  }
  return places;
}

async function copyLines(
  segment: FolderSegment,
  places: Uint32Array,
  out: ReturnType<typeof passageWriter>,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let from = 0; from < segment.count; from += PASSAGES_PER_BATCH) {
    const lines: Uint8Array[] = [];
    const starts: number[] = [];
    let bytes = 0;
    for (let i = from; i < Math.min(segment.count, from + PASSAGES_PER_BATCH); i++) {
      if (places[i] === GONE) continue;
      const line = segment.readLine(i);
      starts.push(bytes);
      lines.push(line);
      bytes += line.length;
    }
    out.append(Buffer.concat(lines), Uint32Array.from(starts));
    await setImmediate();
    signal?.throwIfAborted();
  }
}

function placeIds(
  { ids }: FolderSegment,
  places: Uint32Array,
  { highs, lows }: { highs: Uint32Array; lows: Uint32Array },
): void {
  const entries = readIds(ids);
  for (let at = 0; at < entries.length; at += 3) {
    const place = places[entries[at + 2]!]!;
    if (place === GONE) continue;
    highs[place] = entries[at]!;
    lows[place] = entries[at + 1]!;
  }
}

function segmentSource(
  { dictionary, postings }: FolderSegment,
  places: Uint32Array,
): PostingsSource {
  const entries = dictionary.entries();
  const file = readAhead(postings);
  let current = entries.next();
  const passages = new Uint32Array(BLOCK);
  const frequencies = new Uint16Array(BLOCK);
  return {
    get term() {
      return current.done === true ? null : current.value.term;
    },
    takeInto(list) {
      if (current.done === true) return;
      const term = new TermPostings({ file, ...current.value }, separateMemory, () => undefined);
      reserve(list, term.skips.df);
      for (let block = 0; block < term.skips.blocks; block++) {
        term.read(block, passages, frequencies);
        const size = term.skips.size(block);
        for (let i = 0; i < size; i++) {
          const place = places[passages[i]!]!;
          if (place === GONE) continue;
          list.passages[list.count] = place;
          list.frequencies[list.count] = frequencies[i]!;
          list.count += 1;
        }
      }
      current = entries.next();
    },
  };
}

const READ_AHEAD_BYTES = 1 << 20;

function readAhead(file: CheckedFile): CheckedFile {
  let start = 0;
  let piece = new Uint8Array(0);
  return {
    ...file,
    read(from, to) {
      if (from < start || to > start + piece.length) {
        start = from;
        piece = file.read(from, Math.min(file.bytes, Math.max(to, from + READ_AHEAD_BYTES)));
      }
      return piece.subarray(from - start, to - start);
    },
  };
}

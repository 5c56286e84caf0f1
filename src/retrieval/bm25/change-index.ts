/** Changes to an index folder: each writes new files, then the manifest that names them, then removes the replaced files. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ConfigError, DataError } from "../../base/errors.ts";
import { sha256 } from "../../base/files.ts";
import type { Passage } from "../../trajectory/task.ts";
import { writeFailure } from "../store/index-folder.ts";
import { searchedText } from "../store/passage-file.ts";
import { withWriteLock } from "../store/replace-folder.ts";
import { defaultThreads, type IndexingOptions } from "./build-index.ts";
import { compactedCorpus } from "./compact.ts";
import { writeCorpus } from "./corpus-writer.ts";
import { type DeadPassages, isSet, writeDead } from "./dead-file.ts";
import { findId } from "./id-table.ts";
import {
  analyzerOf,
  changeName,
  type IndexManifest,
  type IndexSegment,
  readBm25Manifest,
  segmentFolder,
  writeBm25Manifest,
} from "./index-manifest.ts";
import { closeSegments, type OpenIndex, openSegments } from "./open-index.ts";
import type { FolderSegment } from "./segment.ts";
import { segmentOfCorpus, writeSegment } from "./write-segment.ts";

/**
 * Adds passages to an index as a new segment. Search results equal those of an index with them at the end of
 * the corpus.
 *
 * @returns the manifest as written.
 * @throws {DataError} CORPUS_EMPTY, PASSAGE_TOO_LONG, INDEX_MISSING and similar; CORPUS_DUPLICATE_ID also when the
 *   index already has a passage's id.
 * @throws {ExternalError} INDEX_BUSY, FILE_WRITE_FAILED; the index is unchanged.
 */
export function addToIndex(
  folder: string,
  passages: AsyncIterable<Passage> | Iterable<Passage>,
  { source = "corpus", threads = defaultThreads(), signal, onProgress }: IndexingOptions = {},
): Promise<IndexManifest> {
  return change(folder, async ({ manifest, segments }) => {
    const analyzer = analyzerOf(manifest, folder);
    const number = manifest.changes + 1;
    const name = changeName(number);
    const own = segmentFolder(folder, name);
    const corpus = await writeCorpus(refusingKnown(passages, segments, { source, folder }), own, {
      analyzer,
      threads,
      signal,
      onProgress,
    });
    const target = { folder, name, parameters: manifest.parameters, signal };
    const entry = await segmentOfCorpus(corpus, target, source);
    return {
      ...manifest,
      corpus: {
        passages: manifest.corpus.passages + entry.passages,
        sha256: sha256(`${manifest.corpus.sha256} + ${corpus.sha256}`),
      },
      changes: number,
      segments: [...manifest.segments, entry],
    };
  });
}

/**
 * Deletes passages by id. Search results and scores equal those of an index built without
 * them. Compaction removes their text from the disk.
 *
 * @returns the written manifest, and the ids that the index does not have.
 * @throws {ConfigError} INDEX_WOULD_BE_EMPTY when no passage would remain.
 * @throws as `addToIndex`.
 */
export async function deleteFromIndex(
  folder: string,
  ids: Iterable<string>,
): Promise<{ manifest: IndexManifest; deleted: number; unknown: string[] }> {
  const unknown: string[] = [];
  let deleted = 0;
  const manifest = await change(folder, ({ manifest, segments }) => {
    const doomed = segments.map(() => new Set<number>());
    const found: string[] = [];
    for (const id of new Set(ids)) {
      const place = findPassage(segments, id);
      if (place === null) unknown.push(id);
      else {
        doomed[place.segment]!.add(place.position);
        found.push(id);
      }
    }
    deleted = found.length;
    if (deleted === 0) return Promise.resolve(manifest);
    if (deleted === manifest.corpus.passages)
      throw new ConfigError(
        "INDEX_WOULD_BE_EMPTY",
        `${folder}: this would delete all ${deleted} passages; an index needs at least one. Remove the folder instead.`,
      );
    const analyzer = analyzerOf(manifest, folder);
    const number = manifest.changes + 1;
    const entries = segments.map((segment, i) =>
      withDead(folder, segment, {
        doomed: doomed[i]!,
        analyze: (text) => analyzer.analyze(text),
        file: `dead-${changeName(number)}.bin`,
      }),
    );
    return Promise.resolve({
      ...manifest,
      corpus: {
        passages: manifest.corpus.passages - deleted,
        sha256: sha256(`${manifest.corpus.sha256} - ${found.sort().join("\n")}`),
      },
      changes: number,
      segments: entries,
    });
  });
  return { manifest, deleted, unknown };
}

/**
 * Merges all segments of an index into one, without deleted passages. Search results do not change.
 *
 * @returns the written manifest; the old one when there is nothing to do.
 * @throws {ExternalError} INDEX_BUSY, FILE_WRITE_FAILED; the index is unchanged.
 */
export function compactIndex(
  folder: string,
  { signal }: { signal?: AbortSignal } = {},
): Promise<IndexManifest> {
  return change(folder, async ({ manifest, segments }) => {
    if (segments.length === 1 && manifest.segments[0]!.dead === undefined) return manifest;
    const number = manifest.changes + 1;
    const name = changeName(number);
    const parts = await compactedCorpus(segments, segmentFolder(folder, name), signal);
    const target = { folder, name, parameters: manifest.parameters, signal };
    return { ...manifest, changes: number, segments: [await writeSegment(parts, target)] };
  });
}

/** Runs one change as the only writer, and removes unfinished and replaced files. */
async function change(
  folder: string,
  work: (index: OpenIndex) => Promise<IndexManifest>,
): Promise<IndexManifest> {
  // Check that the folder is an index before a lock is written into it.
  await closeSegments((await openSegments(folder)).segments);
  try {
    return await withWriteLock(folder, async () => {
      // A killed writer may have left files with the names that this change will use.
      removeUnnamed(folder, await readBm25Manifest(folder));
      try {
        return await changed(folder, work);
      } finally {
        await removeRemains(folder);
      }
    });
  } catch (error) {
    throw writeFailure(folder, error);
  }
}

async function changed(
  folder: string,
  work: (index: OpenIndex) => Promise<IndexManifest>,
): Promise<IndexManifest> {
  const index = await openSegments(folder);
  try {
    const manifest = await work(index);
    if (manifest !== index.manifest) await writeBm25Manifest(folder, manifest);
    return manifest;
  } finally {
    await closeSegments(index.segments);
  }
}

/** After a change that may have failed anywhere: the manifest on disk decides. */
async function removeRemains(folder: string): Promise<void> {
  try {
    removeUnnamed(folder, await readBm25Manifest(folder));
  } catch {
    // They only take space; the next change removes them.
  }
}

function removeUnnamed(folder: string, { segments }: IndexManifest): void {
  for (const name of readdirSync(folder)) {
    if (name.startsWith("manifest.json.tmp-")) rmSync(join(folder, name), { force: true });
  }
  const named = new Map(segments.map((segment) => [segment.name, segment]));
  const all = segmentFolder(folder, "");
  for (const name of readdirSync(all)) {
    const segment = named.get(name);
    if (segment === undefined) rmSync(join(all, name), { recursive: true, force: true });
    else {
      for (const file of readdirSync(join(all, name))) {
        const isOld = file.startsWith("dead-") && file !== segment.dead?.file;
        if (isOld) rmSync(join(all, name, file), { force: true });
      }
    }
  }
}

/** The passages of a stream; throws at the first whose id is in the index. */
async function* refusingKnown(
  passages: AsyncIterable<Passage> | Iterable<Passage>,
  segments: readonly FolderSegment[],
  { source, folder }: { source: string; folder: string },
): AsyncGenerator<Passage> {
  let position = 0;
  for await (const passage of passages) {
    if (findPassage(segments, passage.id) !== null)
      throw new DataError(
        "CORPUS_DUPLICATE_ID",
        `${source}: passage ${position + 1} has the id "${passage.id}", which already exists in ${folder}; ids must be unique. Remove it, or delete the old one first.`,
      );
    position += 1;
    yield passage;
  }
}

function findPassage(
  segments: readonly FolderSegment[],
  id: string,
): { segment: number; position: number } | null {
  for (const [segment, { ids, passages, dead }] of segments.entries()) {
    for (const position of findId(ids, id)) {
      if (!isSet(dead.bits, position) && passages.read(position).id === id)
        return { segment, position };
    }
  }
  return null;
}

function withDead(
  folder: string,
  segment: FolderSegment,
  {
    doomed,
    analyze,
    file,
  }: { doomed: ReadonlySet<number>; analyze: (text: string) => string[]; file: string },
): IndexSegment {
  if (doomed.size === 0) return segment.entry;
  const { entry, dead, dictionary, lengths, passages } = segment;
  const lost = new Map(dead.lost);
  let { totalLength } = dead;
  for (const position of doomed) {
    totalLength += lengths[position]!;
    for (const term of new Set(analyze(searchedText(passages.read(position))))) {
      const row = dictionary.find(term)?.row;
      if (row !== undefined) lost.set(row, (lost.get(row) ?? 0) + 1);
    }
  }
  const all: DeadPassages = {
    positions: Uint32Array.from([...dead.positions, ...doomed]).sort(),
    lost,
  };
  const written = writeDead(join(segmentFolder(folder, entry.name), file), all);
  return { ...entry, dead: { file, entry: written, passages: all.positions.length, totalLength } };
}

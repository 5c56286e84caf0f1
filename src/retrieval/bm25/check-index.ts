import { join } from "node:path";
import { errorMessage } from "../../base/errors.ts";
import { random } from "../../base/random.ts";
import { recallOf } from "../bench-index.ts";
import { type FileEntry, readThrough } from "../store/checked-file.ts";
import { whileUnchanged } from "../store/index-folder.ts";
import type { Bm25Retriever } from "./bm25.ts";
import { isSet } from "./dead-file.ts";
import { exactBm25 } from "./exact-bm25.ts";
import {
  type IndexSegment,
  readBm25Manifest,
  SEGMENT_FILES,
  type SegmentFile,
  segmentFolder,
} from "./index-manifest.ts";
import { openIndex } from "./open-index.ts";

interface IndexFinding {
  check: "checksums" | "self-retrieval" | "exact-scores";
  ok: boolean;
  /** What was checked and found. */
  detail: string;
}

interface CheckIndexOptions {
  /** Number of passages whose title is searched. */
  titles?: number;
  /** Number of queries compared with the reference implementation. */
  queries?: number;
  signal?: AbortSignal;
}

/** A title must find its passage, or one with the same title, among this many hits. */
const SELF_RETRIEVAL_K = 10;

/** Required share of such titles: below it the index does not answer its queries. */
const SELF_RETRIEVAL_SHARE = 0.8;

/**
 * Checks an index folder: every checksum; that titles find their passages; that hits and scores equal those of a
 * reference implementation that reads the stored passages. The sample is the same on every run.
 *
 * @returns findings in this order; the last two only when the files are intact.
 * @throws {DataError} INDEX_MISSING, INDEX_VERSION, INDEX_ANALYZER, INDEX_CORRUPT for an unreadable manifest.
 */
export async function checkIndex(
  folder: string,
  { titles = 200, queries = 20, signal }: CheckIndexOptions = {},
): Promise<IndexFinding[]> {
  const checksums = await checkChecksums(folder, signal);
  if (!checksums.ok) return [checksums];
  const retriever = await openIndex(folder);
  try {
    const sampled = sampleTitles(retriever, titles);
    signal?.throwIfAborted();
    return [
      checksums,
      await checkSelfRetrieval(retriever, sampled),
      await checkExactScores(retriever, sampled.slice(0, queries)),
    ];
  } finally {
    await retriever.close();
  }
}

async function checkChecksums(folder: string, signal?: AbortSignal): Promise<IndexFinding> {
  const check = "checksums";
  try {
    const detail = await whileUnchanged(folder, () => readAllFiles(folder, signal));
    return { check, ok: true, detail };
  } catch (error) {
    if (!(error instanceof DamagedFiles)) throw error;
    return { check, ok: false, detail: error.message };
  }
}

/** Its message lists them all. */
class DamagedFiles extends Error {}

async function readAllFiles(folder: string, signal?: AbortSignal): Promise<string> {
  const { segments } = await readBm25Manifest(folder);
  const files = segments.flatMap((segment) => filesOf(folder, segment));
  const damaged: string[] = [];
  let bytes = 0;
  for (const { path, entry } of files) {
    await readThrough(path, entry, { signal }).catch((error: unknown) => {
      signal?.throwIfAborted();
      damaged.push(errorMessage(error));
    });
    bytes += entry.bytes;
  }
  if (damaged.length > 0) throw new DamagedFiles(damaged.join(" "));
  return `${files.length} files, ${bytes} bytes, all intact`;
}

function filesOf(
  folder: string,
  { name, files, dead }: IndexSegment,
): { path: string; entry: FileEntry }[] {
  const own = segmentFolder(folder, name);
  const all = Object.entries(SEGMENT_FILES).map(([key, file]) => ({
    path: join(own, file),
    entry: files[key as SegmentFile],
  }));
  if (dead !== undefined) all.push({ path: join(own, dead.file), entry: dead.entry });
  return all;
}

function deadIn({ segments }: Bm25Retriever): (position: number) => boolean {
  return (position) => {
    let local = position;
    for (const { count, dead } of segments) {
      if (local < count) return isSet(dead.bits, local);
      local -= count;
    }
    return true;
  };
}

/** At most `count` distinct titles with a searchable term; repeated titles are compared by id. */
function sampleTitles(retriever: Bm25Retriever, count: number): string[] {
  const { passages, analyzer } = retriever;
  const isDead = deadIn(retriever);
  const draw = random("index check");
  const titles = new Set<string>();
  for (let tries = 0; tries < 4 * count && titles.size < count; tries++) {
    const position = draw.int(passages.count);
    if (isDead(position)) continue;
    const { title } = passages.read(position);
    if (analyzer.analyze(title).length > 0) titles.add(title);
  }
  return [...titles];
}

async function checkSelfRetrieval(
  retriever: Bm25Retriever,
  titles: readonly string[],
): Promise<IndexFinding> {
  const check = "self-retrieval";
  if (titles.length === 0) return { check, ok: true, detail: "no passage has a title" };
  const results = await retriever.search(titles, SELF_RETRIEVAL_K);
  const lost = titles.filter((title, i) => !results[i]!.some((hit) => hit.title === title));
  const found = titles.length - lost.length;
  const example = lost[0] === undefined ? "" : `; not, for example, "${lost[0]}"`;
  return {
    check,
    ok: found >= SELF_RETRIEVAL_SHARE * titles.length,
    detail: `${found} of ${titles.length} titles find their passage among ${SELF_RETRIEVAL_K} hits${example}`,
  };
}

async function checkExactScores(
  retriever: Bm25Retriever,
  titles: readonly string[],
): Promise<IndexFinding> {
  const check = "exact-scores";
  const { passages, analyzer, parameters } = retriever;
  const queries = titles.length > 0 ? titles : [passages.read(0).text];
  const results = await retriever.search(queries, SELF_RETRIEVAL_K);
  const expected = exactBm25(passages, analyzer, parameters, {
    queries: queries.map((query) => analyzer.analyze(query)),
    isDead: deadIn(retriever),
  });
  for (const [i, query] of queries.entries()) {
    const wanted = expected[i]!.slice(0, SELF_RETRIEVAL_K);
    for (const [rank, { position, score }] of wanted.entries()) {
      const hit = results[i]![rank];
      // Sums in another order may reorder equal scores.
      if (hit !== undefined && Math.abs(hit.score - score) < 1e-9 * Math.max(1, score)) continue;
      const found = hit === undefined ? "nothing" : `"${hit.id}" at ${hit.score}`;
      const detail = `"${query}", hit ${rank + 1}: the index returns ${found}, the formula "${passages.read(position).id}" at ${score}`;
      return { check, ok: false, detail };
    }
  }
  const detail = `${queries.length} queries: the first ${SELF_RETRIEVAL_K} scores are the formula's`;
  return { check, ok: true, detail };
}

/**
 * Share of the k best passages by the formula that an index finds; reads and analyses every passage.
 * @returns null when no query has a hit.
 */
export async function exactRecall(
  retriever: Bm25Retriever,
  queries: readonly string[],
  k: number,
): Promise<number | null> {
  const { passages, analyzer, parameters } = retriever;
  const found = await retriever.search(queries, k);
  const exact = exactBm25(passages, analyzer, parameters, {
    queries: queries.map((query) => analyzer.analyze(query)),
    isDead: deadIn(retriever),
  });
  const named = exact.map((all) => {
    const worst = all[Math.min(k, all.length) - 1]?.score ?? 0;
    return all
      .filter(({ score }) => score >= worst - 1e-9)
      .map(({ position, score }) => ({ id: passages.read(position).id, score }));
  });
  return recallOf(found, named, k);
}

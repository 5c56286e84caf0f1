import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Passage } from "../../trajectory/task.ts";
import { passageCollector, searchedText, type PassageEntries } from "../store/passage-file.ts";
import type { Analyzer } from "../../text/analyzer.ts";
import type { IdCollector } from "./id-table.ts";
import { ExternalError } from "../../base/errors.ts";
import { createFile, type FileEntry } from "../store/checked-file.ts";
import { startThread } from "../thread.ts";
import { runBuilder } from "./run-builder.ts";

/** An analysed corpus on disk, the input of a segment. */
export interface WrittenCorpus {
  /** In order; together they cover every passage. */
  runs: WrittenRun[];
  entries: PassageEntries;
  ids: IdCollector;
  /** SHA-256 of the passages' lines. */
  sha256: string;
}

interface WriteCorpusOptions {
  analyzer: Analyzer;
  /** Worker threads for analysis; 0 uses this thread. */
  threads: number;
  signal: AbortSignal | undefined;
  /** Called after every 1 000 passages. */
  onProgress: ((passages: number) => void) | undefined;
}

/**
 * Passages per run: 1/32 of the earlier ones, within limits, so that neither the number of runs nor their size
 * grows too much.
 */
function runPassages(before: number): number {
  return Math.min(1 << 17, Math.max(1 << 15, before / 32));
}
const UNITS_PER_PASSAGE = 512;

/** UTF-16 units of text that may wait for analysis. */
const WAITING_UNITS = 1 << 22;

/**
 * Streams passages to disk and, in worker threads, to runs of postings. Memory does not grow with the
 * corpus, except for 12 bytes per passage: each thread has one run, and little text waits for it.
 *
 * @param folder of the segment; contains the runs until `removeRuns`.
 * @throws {DataError} PASSAGE_TOO_LONG, and what `passages` throws.
 */
export async function writeCorpus(
  passages: AsyncIterable<Passage> | Iterable<Passage>,
  folder: string,
  { analyzer, threads, signal, onProgress }: WriteCorpusOptions,
): Promise<WrittenCorpus> {
  const collector = passageCollector(folder);
  const { ids } = collector;
  const runs = runQueue(analyzer, folder, threads);
  let batch: PassageBatch = { ids: [], texts: [] };
  const flush = async (): Promise<void> => {
    if (batch.ids.length === 0) return;
    collector.flush();
    const full = batch;
    batch = { ids: [], texts: [] };
    await runs.add(full);
    signal?.throwIfAborted();
    onProgress?.(ids.count);
  };
  try {
    for await (const passage of passages) {
      batch.ids.push(passage.id);
      batch.texts.push(searchedText(passage));
      if (collector.add(passage)) await flush();
    }
    await flush();
    return { runs: await runs.finish(), ids, ...collector.finish() };
  } finally {
    collector.abandon();
    await runs.close();
  }
}

/** Removes the runs of a folder, which a segment does not need. */
export function removeRuns(folder: string): void {
  rmSync(runsFolder(folder), { recursive: true, force: true });
}

function runsFolder(folder: string): string {
  return join(folder, "runs");
}

interface RunQueue {
  /** Resolves when more can be added. */
  add(batch: PassageBatch): Promise<void>;
  /** All runs in order, when they are written. */
  finish(): Promise<WrittenRun[]>;
  close(): Promise<void>;
}

/** Assigns each run to one thread, round robin. */
function runQueue(analyzer: Analyzer, folder: string, threads: number): RunQueue {
  const writers: RunWriter[] =
    threads === 0
      ? [localRunWriter(analyzer)]
      : Array.from({ length: threads }, () => workerRunWriter(analyzer.name));
  const runs: Promise<WrittenRun>[] = [];
  let before = 0;
  let passages = 0;
  let units = 0;
  let waiting = 0;
  let failure: Error | null = null;
  const writer = (): RunWriter => writers[runs.length % writers.length]!;
  const endRun = (): void => {
    if (passages === 0) return;
    const run = writer().write(join(runsFolder(folder), `${runs.length}.run`));
    // `finish` rethrows it; until then there may be no listener.
    run.catch(() => undefined);
    runs.push(run);
    before += passages;
    passages = 0;
    units = 0;
  };
  const settled: (() => void)[] = [];
  const wake = (): void => {
    for (const resolve of settled.splice(0)) resolve();
  };
  return {
    async add(batch) {
      const size = batch.texts.reduce((sum, text) => sum + text.length, 0);
      passages += batch.ids.length;
      units += size;
      waiting += size;
      void writer()
        .add(batch)
        .catch((error: unknown) => (failure ??= error as Error))
        .finally(() => {
          waiting -= size;
          wake();
        });
      const most = runPassages(before);
      if (passages >= most || units >= UNITS_PER_PASSAGE * most) endRun();
      while (waiting > WAITING_UNITS && failure === null)
        await new Promise<void>((resolve) => settled.push(resolve));
      if (failure !== null) throw failure;
    },
    async finish() {
      endRun();
      const written = await Promise.all(runs);
      if (failure !== null) throw failure;
      return written;
    },
    async close() {
      await Promise.all(writers.map((each) => each.close()));
    },
  };
}

interface PassageBatch {
  ids: string[];
  texts: string[];
}

export interface WrittenRun {
  path: string;
  file: FileEntry;
  /** [passages] terms per passage. */
  lengths: Uint32Array<ArrayBuffer>;
}

interface RunWriter {
  /** Resolves when the batch has been analysed. @throws {DataError} PASSAGE_TOO_LONG */
  add(batch: PassageBatch): Promise<void>;
  /** Writes the added passages as a run. */
  write(path: string): Promise<WrittenRun>;
  close(): Promise<void>;
}

/** A batch to analyse, or the path to write the added passages to. */
export type RunRequest = PassageBatch | string;

export function localRunWriter(analyzer: Analyzer): RunWriter {
  const builder = runBuilder();
  return {
    add({ ids, texts }) {
      texts.forEach((text, i) => builder.add(analyzer.analyze(text), ids[i]!));
      return Promise.resolve();
    },
    write(path) {
      const out = createFile(path);
      try {
        const lengths = builder.write(out);
        return Promise.resolve({ path, file: out.finish(), lengths });
      } finally {
        out.abandon();
      }
    },
    close: () => Promise.resolve(),
  };
}

/** Runs in a worker thread. @param analyzer its name. */
export function workerRunWriter(analyzer: string): RunWriter {
  const thread = startThread<WrittenRun | null>("./bm25/analysis-worker.js", analyzer, {
    ended: (cause) =>
      new ExternalError(
        "INDEX_WORKER_STOPPED",
        "index: the thread that analyses passages ended too early. If memory ran out, use fewer --threads.",
        { cause },
      ),
  });
  return {
    async add(batch) {
      await thread.ask(batch);
    },
    write: async (path) => (await thread.ask(path))!,
    close: () => thread.close(),
  };
}

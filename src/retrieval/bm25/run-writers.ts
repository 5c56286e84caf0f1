import { Worker } from "node:worker_threads";
import { ExternalError, receiveError, type SentError } from "../../base/errors.ts";
import type { Analyzer } from "../../text/analyzer.ts";
import type { FileEntry } from "../store/checked-file.ts";
import { createFile } from "../store/file-writer.ts";
import { runBuilder } from "./run-builder.ts";

/** Consecutive passages of a corpus. */
export interface PassageBatch {
  ids: string[];
  /** The searched text of each. */
  texts: string[];
}

/** A run on disk. */
export interface WrittenRun {
  path: string;
  file: FileEntry;
  /** [passages] terms per passage. */
  lengths: Uint32Array<ArrayBuffer>;
}

/** Makes one run after the other, in this thread or a worker thread. */
export interface RunWriter {
  /** Resolves when the batch has been analysed. @throws {DataError} PASSAGE_TOO_LONG */
  add(batch: PassageBatch): Promise<void>;
  /** Writes the added passages as a run. */
  write(path: string): Promise<WrittenRun>;
  close(): Promise<void>;
}

/** Requests to a worker thread and its answers, in the same order. */
export type RunRequest = { kind: "add"; batch: PassageBatch } | { kind: "write"; path: string };
export type RunAnswer =
  { kind: "added" } | ({ kind: "written" } & WrittenRun) | { kind: "failed"; error: SentError };

/** Runs in this thread. */
export function localRunWriter(analyzer: Analyzer): RunWriter {
  const builder = runBuilder();
  return {
    add({ ids, texts }) {
      texts.forEach((text, i) => {
        builder.add(analyzer.analyze(text), ids[i]!);
      });
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

/**
 * Runs in a worker thread.
 * @param analyzer its name.
 */
export function workerRunWriter(analyzer: string): RunWriter {
  const worker = new Worker(WORKER_FILE, { workerData: analyzer });
  const waiting: { resolve: (answer: RunAnswer) => void; reject: (error: unknown) => void }[] = [];
  let ended: Error | null = null;
  const fail = (cause: unknown): void => {
    ended ??= new ExternalError(
      "INDEX_WORKER_STOPPED",
      "index: the thread that analyses passages ended too early. If memory ran out, use fewer --threads.",
      { cause },
    );
    for (const { reject } of waiting.splice(0)) reject(ended);
  };
  worker.on("message", (answer: RunAnswer) => waiting.shift()?.resolve(answer));
  worker.on("error", fail);
  worker.on("exit", fail);
  const ask = async (request: RunRequest): Promise<RunAnswer> => {
    if (ended !== null) throw ended;
    const answer = await new Promise<RunAnswer>((resolve, reject) => {
      waiting.push({ resolve, reject });
      worker.postMessage(request);
    });
    if (answer.kind === "failed") throw receiveError(answer.error) ?? new Error(answer.error.stack);
    return answer;
  };
  return {
    async add(batch) {
      await ask({ kind: "add", batch });
    },
    async write(path) {
      const answer = await ask({ kind: "write", path });
      if (answer.kind !== "written") throw new Error(`expected a run, got "${answer.kind}"`);
      const { file, lengths } = answer;
      return { path, file, lengths };
    },
    async close() {
      await worker.terminate();
    },
  };
}

/** Worker threads need the build; tests that run from the sources use the file in dist/. */
const WORKER_FILE = new URL(
  "./analysis-worker.js",
  import.meta.url.replace(/\/src\/(retrieval\/bm25\/[^/]*)$/, "/dist/$1"),
);

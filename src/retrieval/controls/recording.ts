import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { DataError, errorMessage, ExternalError } from "../../base/errors.ts";
import { makeFolder } from "../../base/files.ts";
import { openJsonl, readJsonl } from "../../base/jsonl.ts";
import { checkOptions, z } from "../../base/schema.ts";
import type { Hit } from "../retriever.ts";

const recordedSearch = z.strictObject({
  /** The retriever's. */
  fingerprint: z.string(),
  query: z.string(),
  k: z.int().min(0),
  hits: z.array(
    z.looseObject({ id: z.string(), title: z.string(), text: z.string(), score: z.number() }),
  ),
});

/** Searches with what they found, by retriever: one line of a JSON-lines file each. */
export interface Recording {
  /** Fingerprints of the retrievers that it holds searches of, in the order of the file. */
  readonly fingerprints: readonly string[];
  /** What one found; of a search recorded twice, the later. */
  find(fingerprint: string, query: string, k: number): Hit[] | undefined;
}

/** A recording that grows. Searches may be added while others are; one process at a time writes a file. */
export interface GrowingRecording extends Recording {
  /** @throws {ExternalError} FILE_WRITE_FAILED */
  add(search: RecordedSearch): Promise<void>;
  close(): Promise<void>;
}

/** A line of the file. */
export interface RecordedSearch {
  fingerprint: string;
  query: string;
  k: number;
  hits: Hit[];
}

/**
 * Reads a recording into memory. A cut last line is left out.
 *
 * @throws {DataError} FILE_MISSING, JSONL_BAD_LINE; DATA_BAD_RECORD with file and line.
 */
export function readRecording(path: string): Promise<Recording> {
  return readSearches(path);
}

async function readSearches(path: string): Promise<Searches> {
  const searches = new Searches();
  for await (const { value, line } of readJsonl(path, { tolerateCutEnd: true })) {
    const { problem, value: search } = asRecorded(value);
    if (problem !== null) {
      throw new DataError(
        "DATA_BAD_RECORD",
        `${path}:${line}: ${problem} Expected a recorded search: fingerprint, query, k, hits. Drop the line, or record again.`,
      );
    }
    searches.set(search);
  }
  return searches;
}

/**
 * Opens a recording to add to it; one that is not there yet is empty. A cut last line is dropped from the file.
 *
 * @throws as `readRecording`.
 * @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function growRecording(path: string): Promise<GrowingRecording> {
  if (existsSync(path)) await dropCutLine(path);
  else await writing(path, () => makeFolder(dirname(path)));
  const searches = existsSync(path) ? await readSearches(path) : new Searches();
  const log = await openJsonl(path);
  let last: Promise<void> = Promise.resolve();
  return {
    fingerprints: searches.fingerprints,
    find: (...key) => searches.find(...key),
    add(search) {
      // One line after the other, whether or not those before it could be written.
      const write = last.then(() => log.append(search));
      last = write.catch(() => undefined);
      searches.set(search);
      return write;
    },
    close: async () => {
      await last;
      await log.close();
    },
  };
}

class Searches implements Recording {
  readonly fingerprints: string[] = [];
  readonly #byRetriever = new Map<string, Map<string, Hit[]>>();

  find(fingerprint: string, query: string, k: number): Hit[] | undefined {
    return this.#byRetriever.get(fingerprint)?.get(`${k} ${query}`);
  }

  set({ fingerprint, query, k, hits }: RecordedSearch): void {
    let searches = this.#byRetriever.get(fingerprint);
    if (searches === undefined) {
      searches = new Map();
      this.#byRetriever.set(fingerprint, searches);
      this.fingerprints.push(fingerprint);
    }
    searches.set(`${k} ${query}`, hits);
  }
}

function asRecorded(
  value: unknown,
): { problem: null; value: RecordedSearch } | { problem: string; value?: undefined } {
  const result = checkOptions(recordedSearch, value);
  if (result.problem === null) return { problem: null, value: result.value };
  const { path, message } = result.problem;
  return { problem: `${path.length === 0 ? "the line" : path.join(".")} ${message}` };
}

/** Cuts a file after its last newline, so that what is appended begins a line. */
async function dropCutLine(path: string): Promise<void> {
  await writing(path, async () => {
    const file = await open(path, "r+");
    try {
      const { size } = await file.stat();
      const block = Buffer.alloc(65_536);
      let end = size;
      while (end > 0) {
        const start = Math.max(0, end - block.length);
        const { bytesRead } = await file.read(block, 0, end - start, start);
        const newline = block.subarray(0, bytesRead).lastIndexOf(0x0a);
        if (newline >= 0) {
          end = start + newline + 1;
          break;
        }
        end = start;
      }
      if (end < size) await file.truncate(end);
    } finally {
      await file.close();
    }
  });
}

async function writing(path: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw new ExternalError(
      "FILE_WRITE_FAILED",
      `${path}: cannot be written to (${errorMessage(error)}). Name a file in a folder that can be.`,
      { cause: error },
    );
  }
}

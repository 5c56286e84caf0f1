import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { ConfigError, DataError, errorMessage, ExternalError } from "../../base/errors.ts";
import { makeFolder } from "../../base/files.ts";
import { openJsonl, readJsonl } from "../../base/jsonl.ts";
import { quote, z, checkOptions } from "../../base/schema.ts";
import { isPath } from "../../base/setting-path.ts";
import {
  defineRetriever,
  type Opened,
  retrieverSchema,
  type Retriever,
  type Hit,
} from "../retriever.ts";

/**
 * Records another retriever's searches in a file, or answers from the file. Its fingerprint is that of the recorded retriever,
 * so results are comparable. A file may contain searches of several retrievers.
 *
 * @throws {ConfigError} RECIPE_BAD_VALUE when `of` is missing or superfluous, when a recording has several retrievers and
 *   none is selected, or when the retriever reads more than the query: a recording has one answer for all tasks.
 * @throws {DataError} SEARCH_NOT_RECORDED from a search that is not in the replayed recording; as `readRecording`;
 *   DATA_EMPTY when there is nothing to replay.
 */
export const recorded = defineRetriever({
  name: "recorded",
  summary: "Another retriever's searches kept in a file, or answered from it.",
  options: z
    .strictObject({
      /** JSON lines: fingerprint, query, k, hits. */
      file: z
        .string()
        .refine((path) => !path.endsWith(".gz"), "expected an uncompressed file")
        .meta(isPath()),
      /** record: search and record; replay: only the file; record-missing: search only what the file lacks. */
      mode: z.enum(["record", "replay", "record-missing"]).default("record-missing"),
      /** The retriever to record; absent for a replay. */
      of: retrieverSchema.optional(),
      /** For a replay of a file with several retrievers: the one to use. */
      fingerprint: z.string().optional(),
    })
    .refine(({ mode, of }) => (mode === "replay") === (of === undefined), {
      message: "expected a retriever to record, and none with `mode: replay`",
      path: ["of"],
    })
    .refine(({ mode, fingerprint }) => mode === "replay" || fingerprint === undefined, {
      message: "only `mode: replay` chooses a retriever by fingerprint",
      path: ["fingerprint"],
    }),
  async open({ file, mode, of, fingerprint }, context) {
    if (of === undefined) return replay(file, fingerprint);
    return record(file, await context.open(of), mode === "record");
  },
});

async function replay(file: string, wanted: string | undefined): Promise<Opened> {
  const recording = await readRecording(file);
  const known = [...recording.fingerprints];
  const fingerprint = wanted ?? known[0];
  if (fingerprint === undefined)
    throw new DataError("DATA_EMPTY", `${file}: contains no recorded search. Record some first.`);
  if (!known.includes(fingerprint) || (wanted === undefined && known.length > 1))
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `recorded.fingerprint is ${quote(wanted)}: ${file} contains searches of ${known.join(", ")}. Choose one of them.`,
    );
  return {
    fingerprint,
    // eslint-disable-next-line @typescript-eslint/require-await -- an abort must reject, not throw
    search: async (queries, k, { signal } = {}) => {
      signal?.throwIfAborted();
      return queries.map((query) => {
        const hits = recording.find(fingerprint, query, k);
        if (hits !== undefined) return copied(hits);
        throw new DataError(
          "SEARCH_NOT_RECORDED",
          `${file}: contains no search for ${quote(query)} with ${k} hits by ${fingerprint}. Record it with \`mode: record-missing\`.`,
        );
      });
    },
  };
}

async function record(file: string, asked: Retriever, askAgain: boolean): Promise<Opened> {
  try {
    if (asked.reads !== undefined)
      throw new ConfigError(
        "RECIPE_BAD_VALUE",
        `recorded.of is "${asked.name}", whose hits also depend on the task's ${asked.reads.join(", ")}: a recording has one answer per query, so it cannot replace this retriever. Record its inner retriever instead.`,
      );
    const recording = await growRecording(file);
    const { fingerprint } = asked;
    return {
      fingerprint,
      search: async (queries, k, options = {}) => {
        options.signal?.throwIfAborted();
        const lookUp = (query: string): Hit[] | undefined => recording.find(fingerprint, query, k);
        const found = new Map(
          queries.map((query) => [query, askAgain ? undefined : lookUp(query)]),
        );
        const missing = [...found].flatMap(([query, hits]) => (hits === undefined ? [query] : []));
        const answers = await asked.search(missing, k, { signal: options.signal });
        await Promise.all(
          missing.map(async (query, i) => {
            const hits = answers[i]!;
            found.set(query, hits);
            if (JSON.stringify(lookUp(query)) === JSON.stringify(hits)) return;
            await recording.add({ fingerprint, query, k, hits: copied(hits) });
          }),
        );
        return queries.map((query) => copied(found.get(query)!));
      },
      close: async () => {
        await asked.close();
        await recording.close();
      },
    };
  } catch (error) {
    await asked.close();
    throw error;
  }
}

/** Copies, so that a caller may modify its hits. */
function copied(hits: readonly Hit[]): Hit[] {
  return hits.map((hit) => ({ ...hit }));
}

const recordedSearch = z.strictObject({
  /** Of the retriever. */
  fingerprint: z.string(),
  query: z.string(),
  k: z.int().min(0),
  hits: z.array(
    z.looseObject({ id: z.string(), title: z.string(), text: z.string(), score: z.number() }),
  ),
});

type RecordedSearch = Omit<z.output<typeof recordedSearch>, "hits"> & { hits: Hit[] };

/** Recorded searches and their hits, by retriever: one line of a JSON-lines file each; the last recording of a search wins. */
class Recording {
  /** In the order of the file. */
  readonly fingerprints = new Set<string>();
  readonly #hits = new Map<string, Hit[]>();

  find(fingerprint: string, query: string, k: number): Hit[] | undefined {
    return this.#hits.get(`${fingerprint} ${k} ${query}`);
  }

  set({ fingerprint, query, k, hits }: RecordedSearch): void {
    this.fingerprints.add(fingerprint);
    this.#hits.set(`${fingerprint} ${k} ${query}`, hits);
  }
}

/**
 * Reads a recording into memory. Skips a truncated last line.
 * @throws {DataError} FILE_MISSING, JSONL_BAD_LINE; DATA_BAD_RECORD with file and line.
 */
async function readRecording(path: string): Promise<Recording> {
  const recording = new Recording();
  for await (const { value, line } of readJsonl(path, { tolerateCutEnd: true })) {
    const checked = checkOptions(recordedSearch, value);
    if (checked.problem !== null) {
      const { path: keys, message } = checked.problem;
      const where = keys.length === 0 ? "the line" : keys.join(".");
      throw new DataError(
        "DATA_BAD_RECORD",
        `${path}:${line}: ${where} ${message} Expected a recorded search: fingerprint, query, k, hits. Remove the line, or record again.`,
      );
    }
    recording.set(checked.value);
  }
  return recording;
}

/**
 * Opens a recording for writing; creates a missing one. Removes a truncated last line from the file. Several calls may add searches at
 * once, but only one process may write a file.
 *
 * @throws as `readRecording`.
 * @throws {ExternalError} FILE_WRITE_FAILED; so does `add`.
 */
async function growRecording(
  path: string,
): Promise<
  Pick<Recording, "find"> & { add(search: RecordedSearch): Promise<void>; close(): Promise<void> }
> {
  const isThere = existsSync(path);
  await writing(path, () => (isThere ? dropCutLine(path) : makeFolder(dirname(path))));
  const recording = isThere ? await readRecording(path) : new Recording();
  const log = await openJsonl(path);
  return {
    find: (...key) => recording.find(...key),
    add(search) {
      recording.set(search);
      return log.append(search);
    },
    close: () => log.close(),
  };
}

/** Truncates a file after its last newline, so that appended text starts a line. */
async function dropCutLine(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    const { size } = await file.stat();
    const block = Buffer.alloc(65_536);
    let end = size;
    while (end > 0) {
      const start = Math.max(0, end - block.length);
      const { bytesRead } = await file.read(block, 0, end - start, start);
      const newline = block.subarray(0, bytesRead).lastIndexOf(0x0a);
      end = newline >= 0 ? start + newline + 1 : start;
      if (newline >= 0) break;
    }
    if (end < size) await file.truncate(end);
  } finally {
    await file.close();
  }
}

async function writing(path: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw new ExternalError(
      "FILE_WRITE_FAILED",
      `${path}: is not writable (${errorMessage(error)}). Choose a file in a writable folder.`,
      { cause: error },
    );
  }
}

import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { DataError, ExternalError, errorMessage } from "./errors.ts";
import { parseExact } from "./exact-json.ts";
import { openUnpacked, unreadable, writeAtomic } from "./files.ts";
import { NOT_TEXT } from "./foreign-file.ts";
import { openText } from "./open-text.ts";
import { decodedLines } from "./text-lines.ts";
import { isStalledDisk, onDisk } from "./waits/disk.ts";

/** One parsed line and its line number. */
export type JsonLine = { value: unknown; line: number };

/**
 * The values of a JSON-lines file, streamed; decompresses gzip, skips blank lines.
 * @param options.exact for files of other programs (`openText`, `parseExact`); tolerateCutEnd drops a half-written last line; onBadLine
 * receives the error of each line that does not parse, instead of throwing the first: JSONL_BAD_LINE, FILE_MISSING, FILE_DAMAGED.
 */
export async function* readJsonl(
  path: string,
  options: {
    exact?: boolean;
    tolerateCutEnd?: boolean;
    onBadLine?: ((error: DataError) => void) | undefined;
  } = {},
): AsyncGenerator<JsonLine> {
  const [open, parse] =
    options.exact === true ? [openText, parseExact] : [openUnpacked, JSON.parse];
  let failed: DataError | null = null;
  try {
    for await (const { text, line, isText } of decodedLines(open(path))) {
      if (failed !== null) throw failed;
      if (text.trim() === "") continue;
      let value: unknown;
      try {
        if (!isText) throw new Error(NOT_TEXT);
        value = parse(text);
      } catch (error) {
        const bad = new DataError(
          "JSONL_BAD_LINE",
          `${path}:${line}: is not JSON (${errorMessage(error)}). Each line must be one JSON value; correct or remove the line.`,
          { cause: error },
        );
        if (options.onBadLine === undefined) failed = bad;
        else options.onBadLine(bad);
        continue;
      }
      yield { value, line };
    }
  } catch (error) {
    throw unreadable(path, error);
  }
  if (failed !== null && options.tolerateCutEnd !== true) throw failed;
}

/** Appends values to a JSON-lines file, one line each, in order. */
export interface JsonlWriter {
  /** Resolves when the operating system has the line. Lines appended meanwhile share one write. */
  append(value: unknown): Promise<void>;
  close(): Promise<void>;
}

/** Opens an append-only JSON-lines log; `durable` flushes each line. @throws {ExternalError} FILE_WRITE_FAILED; DISK_STALLED */
export async function openJsonl(
  path: string,
  { durable = false }: { durable?: boolean } = {},
): Promise<JsonlWriter> {
  let stalled = false;
  const failed = (error: unknown): unknown => {
    stalled ||= isStalledDisk(error);
    if (isStalledDisk(error)) return error;
    const message = `${path}: cannot append (${errorMessage(error)}). Earlier lines are kept.`;
    return new ExternalError("FILE_WRITE_FAILED", message, { cause: error });
  };
  try {
    const file = await onDisk(path, "open", () => open(path, "a"));
    let waiting: string[] = [];
    let next: Promise<void> | null = null;
    let last: Promise<void> = Promise.resolve();
    const flush = async (): Promise<void> => {
      await last.catch(() => undefined);
      const lines = waiting.join("");
      waiting = [];
      next = null;
      await onDisk(path, "append", () => file.appendFile(lines));
      if (durable) await onDisk(path, "append", () => file.datasync());
    };
    return {
      async append(value) {
        waiting.push(`${JSON.stringify(value)}\n`);
        if (next === null) {
          next = flush();
          last = next;
        }
        try {
          await next;
        } catch (error) {
          throw failed(error);
        }
      },
      async close() {
        await last.catch(() => undefined);
        // close() waits for operations that may never end, so a stalled file stays open.
        if (!stalled) await onDisk(path, "close", () => file.close());
      },
    };
  } catch (error) {
    throw failed(error);
  }
}

/** Removes the lines that fail a test, and a half-written last line. A missing log becomes an empty one. */
export async function filterLines(path: string, keep: (value: unknown) => boolean): Promise<void> {
  await writeAtomic(path, async (write) => {
    if (!existsSync(path)) return;
    for await (const { value } of readJsonl(path, { tolerateCutEnd: true })) {
      if (keep(value)) await write(`${JSON.stringify(value)}\n`);
    }
  });
}

/** Sorts the lines of a log into the order of `keys` and drops others; the last line of a key wins. */
export async function orderLines(
  path: string,
  keyOf: (value: unknown) => string,
  keys: readonly string[],
): Promise<void> {
  const places = new Map<string, { start: number; length: number }>();
  let start = 0;
  for await (const { value } of readJsonl(path)) {
    // agentrl writes log lines as JSON without extra white space, so the length is exact.
    const length = Buffer.byteLength(JSON.stringify(value)) + 1;
    places.set(keyOf(value), { start, length });
    start += length;
  }
  const file = await open(path);
  try {
    await writeAtomic(path, async (write) => {
      for (const key of keys) {
        const place = places.get(key);
        if (place === undefined) continue;
        const line = Buffer.alloc(place.length);
        await file.read(line, 0, place.length, place.start);
        await write(line);
      }
    });
  } finally {
    await file.close();
  }
}

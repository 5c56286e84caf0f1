import type { TextDecoder } from "node:util";
import { DataError, errorMessage } from "./errors.ts";
import { parseExact } from "./exact-json.ts";
import { openUnpacked, unreadable } from "./files.ts";
import { TELLING_BYTES, decodeText, decoded, decoderOf } from "./foreign-file.ts";

/**
 * The bytes of any program's text file as UTF-8, streamed: unpacks gzip, decodes UTF-16. Invalid UTF-8 passes: the reader names its place.
 * @throws {DataError} FILE_MISSING; FILE_DAMAGED; FILE_FORMAT
 */
export async function* openText(path: string): AsyncGenerator<Buffer> {
  try {
    let start: Buffer = Buffer.alloc(0);
    let decoder: TextDecoder | null | undefined;
    for await (const chunk of openUnpacked(path)) {
      start = decoder === undefined && start.length > 0 ? Buffer.concat([start, chunk]) : chunk;
      if (decoder === undefined && start.length < TELLING_BYTES) continue;
      decoder ??= decoderOf(path, start);
      yield decoder === null ? start : Buffer.from(decoded(path, decoder, start));
    }
    if (decoder === undefined) {
      const text = decoderOf(path, start);
      yield text === null ? start : Buffer.from(decoded(path, text, start) + decoded(path, text));
    } else if (decoder !== null) yield Buffer.from(decoded(path, decoder));
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** The JSON value of a file of any program; see `parseExact`. @throws {DataError} as `openText`; FILE_FORMAT; FILE_NOT_JSON */
export async function readExactJson(path: string): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of openText(path)) chunks.push(chunk);
  const text = decodeText(path, Buffer.concat(chunks));
  try {
    return parseExact(text);
  } catch (error) {
    const message = `${path}: is not JSON (${errorMessage(error)}).`;
    throw new DataError("FILE_NOT_JSON", message, { cause: error });
  }
}

import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { createGunzip } from "node:zlib";
import { DataError, errorMessage } from "../base/errors.ts";

/** A line of a text file that is not blank. */
export interface TextLine {
  text: string;
  /** `file:line`, for messages. */
  where: string;
}

/**
 * The lines of a text file that are not blank, streamed; `.gz` is unpacked.
 * @throws {DataError} FILE_MISSING
 */
export async function* textLines(path: string): AsyncGenerator<TextLine> {
  const file = createReadStream(path);
  const source = path.endsWith(".gz") ? file.pipe(createGunzip()) : file;
  file.on("error", (error) => source.destroy(error));
  let line = 0;
  try {
    for await (const text of createInterface({ input: source, crlfDelay: Infinity })) {
      line += 1;
      if (text.trim() !== "") yield { text, where: `${path}:${line}` };
    }
  } catch (error) {
    throw new DataError("FILE_MISSING", `${path}: cannot be read (${errorMessage(error)}).`, {
      cause: error,
    });
  } finally {
    file.destroy();
  }
}

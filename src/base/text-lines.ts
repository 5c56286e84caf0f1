import { createInterface } from "node:readline";
import { openUnpacked, unreadable } from "./files.ts";

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
  const source = openUnpacked(path);
  let line = 0;
  try {
    for await (const text of createInterface({ input: source, crlfDelay: Infinity })) {
      line += 1;
      if (text.trim() !== "") yield { text, where: `${path}:${line}` };
    }
  } catch (error) {
    throw unreadable(path, error);
  } finally {
    source.destroy();
  }
}

import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { unreadable } from "../base/files.ts";
import type { Passage } from "../trajectory/task.ts";

/** Most words of a passage of a text file, as in the corpora of DPR and its successors. */
export const PASSAGE_WORDS = 100;

const TEXT_FILE = /\.(txt|md|markdown)$/i;

/**
 * The text and Markdown files of a folder and of its subfolders, in order, links followed; hidden ones are left out.
 * @throws {DataError} FILE_MISSING for a link to nothing.
 */
export async function textFiles(folder: string): Promise<string[]> {
  return (await filesWithin(folder, [await realpath(folder)])).sort();
}

/** @param within real paths of the folder and of those above it: a link to one of them would never end. */
async function filesWithin(folder: string, within: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.name.startsWith(".")) continue;
    const path = join(folder, entry.name);
    const real = entry.isSymbolicLink() ? await targetOf(path, TEXT_FILE) : path;
    if (real === null) continue;
    const found = await stat(real);
    if (found.isFile() && TEXT_FILE.test(entry.name)) files.push(path);
    if (!found.isDirectory()) continue;
    const place = await realpath(real);
    if (!within.includes(place)) files.push(...(await filesWithin(path, [...within, place])));
  }
  return files;
}

/** null: the link leads nowhere, and it has no name of a text. */
async function targetOf(link: string, wanted: RegExp): Promise<string | null> {
  return realpath(link).catch((error: unknown) => {
    if (wanted.test(link)) throw unreadable(link, error);
    return null;
  });
}

/**
 * The passages of a text file: paragraphs, joined up to some hundred words. A longer paragraph is cut at ends of sentences. The
 * title is the first heading of a Markdown file, else the file's name.
 *
 * @param name path within the folder: the id of a passage is `NAME#NUMBER`.
 * @example cutText("notes/oslo.md", "# Oslo\n\nOslo is a city.")
 * // [{ id: "notes/oslo.md#1", title: "Oslo", text: "Oslo is a city." }]
 */
export function cutText(name: string, content: string): Passage[] {
  const text = content.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const heading = /\.txt$/i.test(name) ? null : /^#\s+(.+?)\s*#*$/m.exec(text);
  const body = heading === null ? text : text.replace(heading[0], "");
  const title = heading?.[1] ?? fileTitle(name);
  const pieces = body
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim())
    .filter(Boolean);
  return joined(pieces.flatMap(shortened), "\n").map((passage, i) => ({
    ...{ id: `${name}#${i + 1}`, title, text: passage },
  }));
}

function fileTitle(name: string): string {
  return name.replace(/^.*\//, "").replace(TEXT_FILE, "").replaceAll(/[_-]+/g, " ");
}

/** A paragraph, cut at ends of sentences if it is too long for one passage. */
function shortened(paragraph: string): string[] {
  if (wordCount(paragraph) <= PASSAGE_WORDS) return [paragraph];
  return joined(paragraph.split(/(?<=[.!?。！？]["”’)]*)\s+/), " ");
}

/** Joins pieces in order until the next one would exceed the limit. */
function joined(pieces: readonly string[], separator: string): string[] {
  const passages: string[] = [];
  let words = 0;
  for (const piece of pieces) {
    const count = wordCount(piece);
    const last = passages.at(-1);
    if (last !== undefined && words + count <= PASSAGE_WORDS) {
      passages[passages.length - 1] = `${last}${separator}${piece}`;
      words += count;
    } else {
      passages.push(piece);
      words = count;
    }
  }
  return passages;
}

/** Scripts without spaces count by characters. */
function wordCount(text: string): number {
  return Math.max(text.split(/\s+/).length, text.length / 8);
}

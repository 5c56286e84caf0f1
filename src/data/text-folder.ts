import { readdir, realpath, stat } from "node:fs/promises";
import { extname, join, relative } from "node:path";
import type { Passage } from "../trajectory/task.ts";
import { type Document, DOCUMENT } from "./documents.ts";

/** Most words of a passage of a text file, as in the corpora of DPR and its successors. */
export const PASSAGE_WORDS = 100;

export interface SkippedFile {
  path: string;
  why: string;
}

/** What a folder of texts holds: every file is in one of the two lists. */
export interface TextFolder {
  files: string[];
  skipped: SkippedFile[];
}

/** The documents of a folder and of its subfolders, in order, links followed; hidden files are skipped. */
export async function textFiles(folder: string): Promise<TextFolder> {
  const found: TextFolder = { files: [], skipped: [] };
  await addFiles(folder, [await realpath(folder)], found);
  const { files, skipped } = found;
  return {
    files: files.sort(),
    skipped: skipped
      .map(({ path, why }) => ({ path: relative(folder, path), why }))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
  };
}

/** @param within real paths of the folder and of those above it: a link to one of them would never end. */
async function addFiles(
  folder: string,
  within: readonly string[],
  found: TextFolder,
): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const skip = (why: string): unknown => found.skipped.push({ path, why });
    if (entry.name.startsWith(".")) {
      skip("hidden");
      continue;
    }
    const real = await realpath(path).catch(() => null);
    const state = real === null ? null : await stat(real);
    if (real === null || state === null) skip("a link to nothing");
    else if (state.isDirectory()) {
      if (within.includes(real)) skip("a link to a folder above it");
      else await addFiles(path, [...within, real], found);
    } else if (!state.isFile()) skip("no file");
    else if (!DOCUMENT.test(entry.name)) skip(whyUnread(entry.name));
    else if (state.size === 0) skip("empty");
    else found.files.push(path);
  }
}

/** What can be done about files of known kinds. */
const UNREAD: readonly [RegExp, string][] = [
  [/\.(docx?|odt|rtf|pages)$/i, "a word processor's document; save it as .html, .pdf or .txt"],
  [/\.(pptx?|odp|key)$/i, "slides; save them as .pdf"],
  [/\.(xlsx?|ods|numbers)$/i, "a spreadsheet; save it as .csv and name that file as the corpus"],
  [/\.(epub|mobi|azw3?)$/i, "a book; convert it to .html or .txt"],
  [/\.(png|jpe?g|gif|webp|tiff?|bmp|svg|heic)$/i, "a picture"],
  [/\.(zip|tar|gz|tgz|bz2|xz|7z|rar|zst)$/i, "an archive; unpack it first"],
];

function whyUnread(name: string): string {
  const known = UNREAD.find(([pattern]) => pattern.test(name))?.[1];
  return known ?? `${extname(name) || "a name without an ending"} is read nowhere as text`;
}

/**
 * The passages of a document: paragraphs, joined up to some hundred words. A longer paragraph is cut at ends of sentences. Without a
 * title of the document's own, the title is the file's name.
 *
 * @param name path within the folder: the id of a passage is `NAME#NUMBER`.
 * @example cutText("notes/oslo.md", { title: "Oslo", text: "Oslo is a city." })
 * // [{ id: "notes/oslo.md#1", title: "Oslo", text: "Oslo is a city." }]
 */
export function cutText(name: string, { title: own, text }: Document): Passage[] {
  const title = own ?? fileTitle(name);
  const pieces = text
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim())
    .filter(Boolean);
  return joined(pieces.flatMap(shortened), "\n").map((passage, i) => ({
    id: `${name}#${i + 1}`,
    title,
    text: passage,
  }));
}

function fileTitle(name: string): string {
  return name.replace(/^.*\//, "").replace(DOCUMENT, "").replaceAll(/[_-]+/g, " ");
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

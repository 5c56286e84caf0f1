import { readFile } from "node:fs/promises";
import { DataError, errorMessage } from "../base/errors.ts";
import { readText } from "../base/files.ts";

/** Names of files that are read as documents. */
export const DOCUMENT = /\.(txt|text|md|markdown|html?|xhtml|pdf)$/i;

/** A document's text: paragraphs separated by empty lines. */
export interface Document {
  /** null: it has none of its own. */
  title: string | null;
  text: string;
}

/**
 * Reads a text, Markdown, HTML or PDF file. The title is the first heading of Markdown, or the title that HTML and PDF state.
 *
 * @throws {DataError} FILE_MISSING, FILE_FORMAT: no UTF-8 or UTF-16; a PDF that is damaged, encrypted or only pictures.
 */
export async function readDocument(path: string): Promise<Document> {
  if (/\.pdf$/i.test(path)) return readPdf(path);
  const content = (await readText(path)).replace(/^\uFEFF/, "").replaceAll(/\r\n?/g, "\n");
  if (/\.x?html?$/i.test(path)) return readHtml(content);
  const heading = /\.te?xt$/i.test(path) ? null : /^#\s+(.+?)\s*#*$/m.exec(content);
  return {
    title: heading?.[1] ?? null,
    text: heading === null ? content : content.replace(heading[0], ""),
  };
}

async function readHtml(content: string): Promise<Document> {
  const { convert } = await import("html-to-text");
  const skipped = ["img", "nav", "script", "style", "template", "noscript"];
  const shouted = ["h1", "h2", "h3", "h4", "h5", "h6", "table"];
  const selectors = [
    ...skipped.map((selector) => ({ selector, format: "skip" })),
    ...shouted.map((selector) => ({
      selector,
      options: { uppercaseHeaderCells: false, uppercase: false },
    })),
    { selector: "a", options: { ignoreHref: true } },
  ];
  const title = convert(content, {
    baseElements: { selectors: ["title"], returnDomByDefault: false },
    wordwrap: false,
  }).trim();
  return {
    title: title === "" ? null : title,
    text: convert(content, { wordwrap: false, selectors, baseElements: { selectors: ["body"] } }),
  };
}

async function readPdf(path: string): Promise<Document> {
  const { extractText, getDocumentProxy, getMeta } = await import("unpdf");
  const bad = (what: string, cause?: unknown): DataError =>
    new DataError("FILE_FORMAT", `${path}: ${what}`, { cause });
  const bytes = new Uint8Array(await readFile(path));
  try {
    const pdf = await getDocumentProxy(bytes);
    const { text } = await extractText(pdf);
    const { info } = await getMeta(pdf);
    const title = typeof info["Title"] === "string" ? info["Title"].trim() : "";
    if (text.some((page) => page.trim() !== ""))
      return { title: title === "" ? null : title, text: text.join("\n\n") };
  } catch (error) {
    throw bad(
      `cannot be read as PDF (${errorMessage(error)}). Repair or decrypt it, save its text as .txt, or move it out of the folder.`,
      error,
    );
  }
  throw bad(
    "has no text, only pictures of pages. Recognise its text first (ocrmypdf), or move it out of the folder.",
  );
}

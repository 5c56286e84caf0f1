import { sha256 } from "../../base/files.ts";
import type { Hit } from "../retriever.ts";

/** The beginning of a document: "Doc 1:", "**Document 2** -", "[3]", "4." at the start of a line. */
const HEADING =
  /^[ \t>*#_]*(?:(?:doc(?:ument)?|passage|result)[ \t]*#?[ \t]*\d+[*_]*|\[\d+\]|\d+(?=[.)]))(?:[ \t]*\(title:[ \t]*(?<title>[^)\n]*)\))?[*_]*[ \t]*[:.)\-–—]?[*_]*[ \t]*/gim;

/**
 * The documents of a model's answer: what stands between numbered headings. Fewer than asked for, or none, is an answer too;
 * reasoning in `<think>` is dropped. A title in parentheses after the number, as Search-R1 shows passages, is taken for one.
 *
 * @returns at most k, best first by place (1 / place); ids are hashes of the text, equal documents appear once.
 * @example simulatedDocuments("Doc 1: Oslo is a city.\nDoc 2: It rains.", 5) // two hits
 */
export function simulatedDocuments(answer: string, k: number): Hit[] {
  const written = answer.replaceAll(/<think>[\s\S]*?(<\/think>|$)/g, "");
  const headings = [...written.matchAll(HEADING)];
  const hits: Hit[] = [];
  const seen = new Set<string>();
  headings.forEach((heading, i) => {
    const end = headings[i + 1]?.index ?? written.length;
    const text = written
      .slice(heading.index + heading[0].length, end)
      .replaceAll(/\s+/g, " ")
      .trim();
    if (text === "" || hits.length >= k) return;
    const title = (heading.groups?.["title"] ?? "").replaceAll('"', "").trim();
    const id = `simulated-${sha256(`${title}\n${text}`).slice(0, 16)}`;
    if (seen.has(id)) return;
    seen.add(id);
    hits.push({ id, title, text, score: 1 / (hits.length + 1) });
  });
  return hits;
}

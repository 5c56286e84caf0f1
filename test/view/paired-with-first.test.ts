import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { pairedWithFirst } from "../../src/view/paired-with-first.ts";
import { openResults } from "../../src/view/results-files.ts";
import { writeResults } from "../helpers/report-folder.ts";
import { resultsMarkdown, writePage } from "../helpers/report-page.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

/** Results of 20 questions, of which the first are right. */
function made(name: string, right: number): string {
  const rows = Array.from({ length: 20 }, (_, i) => {
    return { id: `q${i}`, question: `Where is ${i}?`, em: Number(i < right) };
  });
  const policy = { from: `made/${name}` };
  return writeResults(join(folder, name), rows, { results: { policy } });
}

describe("two evaluations in one report", () => {
  it("have their paired difference: second minus first, with interval and p", async () => {
    const found = await pairedWithFirst(await openResults([made("a", 5), made("b", 12)]), []);
    expect(found).toMatchObject([{ metric: "em", others: [{ mean: 0.6, n: 20 }] }, {}]);
    const [em] = found as Exclude<typeof found, string | null>;
    expect(em?.others[0]?.difference).toBeCloseTo(0.35, 12);
    // All seven changed questions turned one way: 2 of 2⁷ patterns, twice by Holm's correction.
    expect(em?.others[0]?.p).toBeCloseTo(2 * (2 / 128), 12);
    expect(em?.others[0]?.ci95[0]).toBeGreaterThan(0);
  });

  it("show it on the page and as Markdown, with a word where interval and p disagree", async () => {
    // Five changed questions: p .0625 however the interval lies.
    const places = [made("c", 5), made("d", 10)];
    const page = readFileSync(await writePage(join(folder, "page.html"), places), "utf8");
    const text = await resultsMarkdown(places);
    for (const shown of [page, text]) {
      expect(shown).toContain("+0.250");
      expect(shown).toContain("Interval and p can disagree");
    }
  });

  it("have none without rows", async () => {
    const places = [made("e", 5), made("f", 6)];
    rmSync(join(places[0]!, "rows.jsonl"));
    expect(await pairedWithFirst(await openResults(places), [])).toBeNull();
  });
});

import { MADE } from "../../helpers/made.ts";
import { createWriteStream, readFileSync } from "node:fs";
import { finished } from "node:stream/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { synthesisDocument } from "../../../src/view/documents/synthesis.ts";
import { documentPage } from "../../../src/view/html/page.ts";
import { openSynthesis } from "../../../src/view/synthesis-files.ts";
import { hasBrowser, openPage, type WatchedPage } from "../../helpers/browser.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { writeSynthesis } from "../../helpers/synthesis-folder.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { writeResults } from "../../helpers/report-folder.ts";

const folder = temporaryFolder();
const faintTexts = readFileSync(join(import.meta.dirname, "../../helpers/faint-texts.mjs"), "utf8");
const ATTACK = `</script><script>window.broken=1</script><img src=x onerror="window.broken=2">`;

const count = (page: Page): Promise<string> => page.locator("#viewer-count").innerText();

async function writePage(place: string): Promise<string> {
  const path = join(folder, "page.html");
  const out = createWriteStream(path);
  const document = await synthesisDocument(await openSynthesis(place), null);
  for await (const piece of documentPage(document, MADE)) out.write(piece);
  out.end();
  await finished(out);
  return path;
}

describe("a synthesis that is opened for its page", () => {
  it("refuses what is no synthesis, by the key", async () => {
    const evaluation = writeResults(join(folder, "evaluation"), [
      { id: "q", question: "?", em: 1 },
    ]);
    await expect(openSynthesis(join(evaluation, "results.json"))).rejects.toThrow(
      errorWith("RESULTS_BAD", "Expected the synth.json of `agentrl synth-data`."),
    );
  });
});

describe.skipIf(!hasBrowser)("the page of samples, in a browser (skipped without chromium)", () => {
  let path = "";
  beforeAll(async () => {
    path = await writePage(writeSynthesis(join(folder, "made"), ATTACK));
  });

  async function opened(options?: Parameters<typeof openPage>[1]): Promise<WatchedPage> {
    const watched = await openPage(path, options);
    await watched.page.waitForSelector("#viewer-detail h3");
    return watched;
  }

  it("shows what each step let through and why, and opens without a complaint or a request", async () => {
    const { page, complaints, requests } = await opened();
    expect(await page.locator("h1").innerText()).toBe("made");
    const format = page.locator("#steps tbody tr").nth(1);
    expect(await format.locator(".number").allInnerTexts()).toEqual(["4", "3", "75 %", "3"]);
    expect(await format.locator(".reasons").innerText()).toContain(`1 unpaired tag${ATTACK}`);
    const bars = "#steps tbody tr:nth-child(2) rect";
    const widths = await page.evaluate(
      `[...document.querySelectorAll("${bars}")].map((rect) => rect.getAttribute("width"))`,
    );
    expect(widths).toEqual(["100%", "100%", "75%"]);
    expect(await page.locator("#steps .note").innerText()).toContain("1 HTTP_TIMEOUT");
    expect(await page.evaluate(`"broken" in window`)).toBe(false);
    expect({ complaints, requests }).toEqual({ complaints: [], requests: [] });
  });

  it("sets tool use with hints beside that without, also after the hint", async () => {
    const { page } = await opened();
    const rows = await page.locator("#draws .card:last-of-type tbody tr").allInnerTexts();
    // The hint stands in the second call, after which nothing was searched.
    expect(rows.map((row) => row.replaceAll(/\s+/g, " ").trim())).toEqual([
      "plain without a hint 100 % 2 of 2",
      "hinted with a hint 100 % 2 of 2",
      "… after the first hint 0 % 0 of 2",
    ]);
  });

  it("browses samples by status, draw, hints and weight, with where they come from", async () => {
    const { page } = await opened();
    expect(await count(page)).toBe("6 samples");
    await page.selectOption("select[name=hints]", "first-thought");
    expect(await count(page)).toBe("3 of 6 samples");
    await page.selectOption("select[name=status]", "kept");
    expect(await count(page)).toBe("1 of 6 samples");
    await page.locator(".line").first().click();
    await expect.poll(() => page.locator("#viewer-detail h3").innerText()).toBe("Where is 2?");
    const facts = await page.locator(".facts").innerText();
    expect(facts).toMatch(/Teacher\s+model made\/teacher/);
    expect(facts).toMatch(/Steps\s+format → weights \(0\.5\)/);
    expect(facts).toMatch(/Hints\s+first-thought in message 2/);
    const owners = await page.locator(".part .owner").allInnerTexts();
    expect(owners).toEqual(["template", "policy", "environment", "inserted", "policy"]);
    await page.locator("#viewer-reset").click();
    await page.selectOption("select[name=weight]", "0.5");
    // Kept, and both sides of a pair.
    expect(await count(page)).toBe("3 of 6 samples");
  });

  it("has a dark look of enough contrast and fits a phone", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      const { page } = await opened({ colorScheme, viewport: { width: 390, height: 844 } });
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
      expect(await page.evaluate(faintTexts)).toEqual([]);
    }
  });
});

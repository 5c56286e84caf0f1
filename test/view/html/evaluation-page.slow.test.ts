import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { hasBrowser, openPage, type WatchedPage } from "../../helpers/browser.ts";
import { type MadeRow, searchTrajectory, writeResults } from "../../helpers/report-folder.ts";
import { writePage } from "../../helpers/report-page.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
/** Run in a page: its texts of too little contrast. */
const faintTexts = readFileSync(join(import.meta.dirname, "../../helpers/faint-texts.mjs"), "utf8");
const CITIES = ["Oslo", "Bern", "Lima", "Cairo", "Delhi", "Quito"];
const ATTACK = `</script><script>window.broken=1</script><img src=x onerror="window.broken=2"><svg onload=window.broken=3>`;

/** Twelve questions: even ones right, of one or two hops; the last one holds markup wherever text can stand. */
const rows: MadeRow[] = Array.from({ length: 12 }, (_, i) => {
  const attack = i === 11 ? ATTACK : "";
  const city = CITIES[i % 6] ?? "";
  const [id, question] = [`q${i}${attack}`, `Where is ${city} ${i}?${attack}`];
  const type = i < 6 ? "bridge" : `comparison${attack}`;
  return {
    id,
    question,
    em: (i + 1) % 2,
    answer: `${city}${attack}`,
    hops: 1 + (i % 3 === 0 ? 1 : 0),
    type,
  };
});
const trajectories = rows.map((row, i) =>
  searchTrajectory(row, `needle${i}${i === 11 ? ATTACK : ""}`),
);

const count = (page: Page): Promise<string> => page.locator("#viewer-count").innerText();
const chosen = (page: Page): Promise<string> => page.locator("#viewer-detail h3").innerText();

describe.skipIf(!hasBrowser)("the page of results, in a browser (skipped without chromium)", () => {
  let path = "";
  beforeAll(async () => {
    const place = writeResults(join(folder, "made"), rows, {
      trajectories,
      results: {
        groups: { hops: {}, type: { [`comparison${ATTACK}`]: { n: 6, metrics: { em: 0.5 } } } },
      },
    });
    path = await writePage(join(folder, "page.html"), [place]);
  });

  async function opened(options?: Parameters<typeof openPage>[1]): Promise<WatchedPage> {
    const watched = await openPage(path, options);
    await watched.page.waitForSelector("#viewer-detail h3");
    return watched;
  }

  it("opens from a file without a complaint and asks the network for nothing", async () => {
    const { page, complaints, requests } = await opened();
    expect(await page.locator("h1").innerText()).toBe("made");
    expect(await count(page)).toBe("12 trajectories");
    expect(await page.locator("section h2").allInnerTexts()).toEqual([
      "Scores means over questions, lines are 95 % intervals",
      "How trajectories ended draws by their end",
      ...["Search behaviour", "Protocol all settings of the measurement except the policy"],
      "Trajectories",
    ]);
    expect({ complaints, requests }).toEqual({ complaints: [], requests: [] });
  });

  it("puts a matrix of policies and datasets first, by their names, and warns only within a dataset", async () => {
    const places = ["small", "large"].flatMap((model) =>
      ["nq", "own"].map((dataset) =>
        writeResults(join(folder, "matrix", model, dataset), rows.slice(0, 2), {
          results: {
            dataset,
            fingerprint: dataset,
            protocol: { dataset },
            policy: { from: "http://127.0.0.1:1/v1", model },
          },
        }),
      ),
    );
    const { page, complaints } = await openPage(
      await writePage(join(folder, "matrix.html"), places),
      { viewport: { width: 400, height: 900 } },
    );
    expect(await page.locator("main > *").first().getAttribute("id")).toBe("matrix");
    expect(await page.locator(".matrix thead th").allInnerTexts()).toEqual([
      ...["policy", "nq EM", "nq F1", "own EM", "own F1", "average EM", "average F1"],
    ]);
    expect(await page.locator(".matrix tbody th").allInnerTexts()).toEqual([
      ...["small @ 127.0.0.1:1", "large @ 127.0.0.1:1"],
    ]);
    expect(await page.locator(".matrix tbody b").allInnerTexts()).toEqual(Array(4).fill("0.500"));
    expect(await page.locator("#scores .part-heading").allInnerTexts()).toEqual(["nq", "own"]);
    const results = await page.locator("select[name=result]").innerText();
    expect(results).toContain("small @ 127.0.0.1:1 · own");
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(400);
    expect(complaints).toEqual([]);
  });

  it("shows a trajectory by who wrote what, tags set apart, gold marked", async () => {
    const { page } = await opened();
    const owners = await page.locator(".part .owner").allInnerTexts();
    expect(owners).toEqual(["template", "policy", "environment", "inserted", "policy"]);
    expect(await page.locator(".tag-call").allInnerTexts()).toEqual(["<search>", "</search>"]);
    expect(await page.locator(".in-call").innerText()).toBe("capital");
    expect(await page.locator(".passage.gold").innerText()).toContain("Doc 1(Title: France)");
    expect(await page.locator(".passage:not(.gold)").innerText()).toContain("Doc 2(Title: Italy)");
    expect(await page.locator(".found li").allInnerTexts()).toEqual(["★ p1", "p2"]);
  });

  it("leaves text that is markup without effect, wherever it stands", async () => {
    const { page, complaints } = await opened();
    await page.locator(".line").nth(11).click();
    await expect.poll(() => chosen(page)).toBe(rows[11]!.question);
    expect(await page.locator("#viewer-detail pre").first().innerText()).toContain(ATTACK);
    expect(await page.locator("img").count()).toBe(0);
    expect(await page.evaluate(`"broken" in window`)).toBe(false);
    expect(complaints).toEqual([]);
  });

  it("filters by what rows say and by any text of a trajectory, and clears filters again", async () => {
    const { page } = await opened();
    await page.selectOption("select[name=verdict]", "wrong");
    expect(await count(page)).toBe("6 of 12 trajectories");
    await page.selectOption("select[name=hops]", "2");
    expect(await count(page)).toBe("2 of 12 trajectories");
    await page.locator("#viewer-reset").click();
    expect(await count(page)).toBe("12 trajectories");
    // Stands only in the policy's thought.
    await page.locator("#viewer-query").fill("NEEDLE7");
    await expect.poll(() => count(page)).toBe("1 of 12 trajectories");
    await page.locator("#viewer-query").fill("needle7 nowhere");
    await expect.poll(() => count(page)).toBe("0 of 12 trajectories");
    expect(await page.locator("#viewer-list .empty").innerText()).toBe(
      "Nothing matches these filters.",
    );
  });

  it("is worked by the keyboard alone", async () => {
    const { page } = await opened();
    await page.keyboard.press("j");
    await expect.poll(() => chosen(page)).toBe("Where is Bern 1?");
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await expect.poll(() => chosen(page)).toBe("Where is Bern 1?");
    await page.keyboard.press("/");
    await page.keyboard.type("jkjk");
    expect(await page.locator("#viewer-query").inputValue()).toBe("jkjk");
    await page.locator("#viewer-query").fill("");
    await page.keyboard.press("Escape");
    await page.keyboard.press("End");
    await expect.poll(() => chosen(page)).toBe(rows[11]!.question);
    const active = await page.locator("#viewer-list").getAttribute("aria-activedescendant");
    expect(await page.locator(`#${active ?? ""}`).getAttribute("aria-selected")).toBe("true");
  });

  it("opens what the address names, and names what is opened", async () => {
    const { page } = await opened({ hash: "#q4%2F0" });
    await expect.poll(() => chosen(page)).toBe("Where is Delhi 4?");
    await page.locator(".line").nth(2).click();
    expect(await page.evaluate("decodeURIComponent(location.hash)")).toBe("#q2/0");
    await page.selectOption("select[name=verdict]", "wrong");
    await page.evaluate(`location.hash = "#q0%2F0"`);
    await expect.poll(() => chosen(page)).toBe("Where is Oslo 0?");
    expect(await count(page)).toBe("12 trajectories");
  });

  it("has a dark look, fits a phone without scrolling sideways, and prints the charts readably", async () => {
    const back = (page: Page): Promise<string> =>
      page.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = await back((await opened()).page);
    const { page } = await opened({ colorScheme: "dark", viewport: { width: 390, height: 844 } });
    expect(await back(page)).not.toBe(light);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    // Paper is white also where the screen is dark.
    await page.emulateMedia({ media: "print" });
    expect(await page.evaluate(faintTexts)).toEqual([]);
    expect(await page.locator("#viewer-list").isVisible()).toBe(false);
    expect(await page.locator(".panel svg").first().isVisible()).toBe(true);
  });

  it("sets results of unlike protocols apart in every section and says so first; results of one question link", async () => {
    const places = ["first", "second"].map((name, i) =>
      writeResults(join(folder, name), rows.slice(0, 3), {
        results: {
          fingerprint: i === 0 ? "aaaaaaaaaaaa" : "bbbbbbbbbbbb",
          protocol: { topK: 3 + i },
        },
      }),
    );
    const both = await writePage(join(folder, "both.html"), places);
    const { page, complaints } = await openPage(both);
    await page.waitForSelector("#viewer-detail h3");
    expect(await page.locator("[role=alert] tbody").innerText()).toMatch(/topK\s+3\s+4/);
    for (const section of ["scores", "ends", "search"]) {
      expect(await page.locator(`#${section} .part-heading`).count()).toBe(2);
    }
    // No chart or table of numbers holds both.
    expect(await page.locator("table:has(.s0):has(.s1)").count()).toBe(0);
    await page.locator(".siblings a", { hasText: "second" }).click();
    await expect
      .poll(() => page.locator(".siblings [aria-current]").innerText())
      .toContain("second");
    expect(await page.evaluate("decodeURIComponent(location.hash)")).toBe("#second:q0/0");
    expect(complaints).toEqual([]);
  });

  it("keeps to the lines in sight, of five thousand trajectories", async () => {
    const many = Array.from({ length: 5000 }, (_, i) => ({
      id: `m${i}`,
      question: `Which ${i}?`,
      em: i % 2,
    }));
    const place = writeResults(join(folder, "many"), many);
    const large = await writePage(join(folder, "many.html"), [place]);
    const { page, complaints } = await openPage(large, { hash: "#m4321%2F0" });
    await expect.poll(() => chosen(page)).toBe("Which 4321?");
    expect(await page.locator(".line").count()).toBeLessThan(60);
    expect(await page.locator('.line[aria-selected="true"] .title').innerText()).toBe(
      "Which 4321?",
    );
    // 49; 149 … 949 and 490 … 499; 20 for each of 1, 2, 3 thousand; 119 from 4 000 on.
    await page.locator("#viewer-query").fill("which 49");
    await expect.poll(() => count(page)).toBe("199 of 5,000 trajectories");
    expect(complaints).toEqual([]);
  });

  it("is read without sight: tables with heads, a name for every control, text of enough contrast", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      const { page } = await opened({ colorScheme });
      const nameless = page.locator(
        "select:not([aria-label]), table:not(:has(th[scope])), svg:not([aria-hidden])",
      );
      expect(await nameless.count()).toBe(0);
      expect(await page.evaluate(faintTexts)).toEqual([]);
    }
  });
});

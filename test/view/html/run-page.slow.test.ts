import { MADE } from "../../helpers/made.ts";
import { createWriteStream, readFileSync } from "node:fs";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { runsDocument } from "../../../src/view/documents/runs.ts";
import { documentPage } from "../../../src/view/html/page.ts";
import { effectOf } from "../../../src/run/settings/settings-schema.ts";
import { readRun } from "../../../src/view/runs/run-files.ts";
import { hasBrowser, openPage } from "../../helpers/browser.ts";
import { searchTrajectory } from "../../helpers/report-folder.ts";
import { metricsText, type MadeRun, writeRun } from "../../helpers/run-folder.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import "../../helpers/all-parts.ts";

const folder = temporaryFolder();
const faintTexts = readFileSync(join(import.meta.dirname, "../../helpers/faint-texts.mjs"), "utf8");
const ATTACK = `</script><script>window.broken=1</script><img src=x onerror="window.broken=2">`;

async function writePage(path: string, places: readonly string[]): Promise<string> {
  const runs = await Promise.all(places.map((place) => readRun(place)));
  const out = createWriteStream(path);
  const reading = {
    decode: null,
    questionOf: (id: string) => ({ question: `${id}?`, references: ["Paris"], gold: ["p1"] }),
  };
  const document = await runsDocument(runs, {
    effectOf,
    readingOf: () => Promise.resolve(reading),
    trajectories: { perStep: 4, characters: 1e6 },
  });
  for await (const piece of documentPage(document, MADE)) out.write(piece);
  out.end();
  await finished(out);
  return path;
}

/** Two arms: one of two seeds, and one of one that went back from step 6 to step 4. */
function twoArms(): string[] {
  const rewards = [0, 0.2, 0.4, 0.6, 0.8, 1, 1, 1];
  const questions = ["shared", `other${ATTACK}`];
  const trajectories = (answer: string): NonNullable<MadeRun["trajectories"]> => ({
    3: questions.map((id) => ({
      ...searchTrajectory({ id, question: id, em: 1, answer }),
      reward: 1,
    })),
  });
  const common = { before: [0, 0, 1, 0], after: [1, 1, 1, 0], more: { "made/metric": 3 } };
  return [
    writeRun(join(folder, "a1"), {
      klCoef: 0,
      seed: 1,
      rewards,
      ...common,
      trajectories: trajectories("Paris"),
    }),
    writeRun(join(folder, "a2"), {
      klCoef: 0,
      seed: 2,
      rewards: rewards.map((reward) => reward / 2),
      ...common,
    }),
    writeRun(join(folder, "b"), {
      klCoef: 0.1,
      seed: 1,
      rewards,
      ...common,
      trajectories: trajectories("Rome"),
      events: [
        { kind: "alarm", step: 6, message: `Entropy rose.${ATTACK}`, facts: {} },
        { kind: "rollback", step: 6, message: "Went back to step 4.", facts: { to: 4 } },
      ],
      files: {
        "rolled-back/1/metrics.jsonl": metricsText([0.1, 0], {}, 5),
        "rolled-back/1/eval/step-6.json": JSON.stringify({ n: 4, metrics: { em: 0, f1: 0 } }),
        "rolled-back/1/trajectories/step-5.jsonl":
          trajectories("Oslo")[3]
            ?.map((each) => JSON.stringify(each))
            .join("\n") ?? "",
      },
      settings: { checkpoints: { every: 2 } },
    }),
  ];
}

const readouts = (page: Page, panel: string): Promise<string[]> =>
  page
    .locator("figure.curve", { hasText: panel })
    .first()
    .locator(".readout span:visible")
    .allInnerTexts();

describe.skipIf(!hasBrowser)("the page of runs, in a browser (skipped without chromium)", () => {
  let path = "";
  beforeAll(async () => {
    path = await writePage(join(folder, "page.html"), twoArms());
  });

  it("opens from a file without a complaint, asks the network for nothing, and draws the curves", async () => {
    const { page, complaints, requests } = await openPage(path);
    await page.waitForSelector("#viewer-detail h3");
    expect(await page.locator("section h2").allInnerTexts()).toEqual([
      ...["Held-out questions", "Curves by step", "End of training"],
      "Settings only those that differ",
      "Events",
      "Runs",
      expect.stringContaining("Trajectories of all 3 steps"),
    ]);
    const reward = page.locator("figure.curve").first();
    expect(await reward.locator("path.member").count()).toBe(2);
    expect(await reward.locator("path.band.range.smooth").isVisible()).toBe(true);
    expect(await reward.locator("path.band.t95.smooth").isVisible()).toBe(false);
    // From step 4, which it went back to, to step 6.
    expect(await reward.locator("path.rolled-back").getAttribute("d")).toMatch(
      /^M500 .*L625 .*L750 /,
    );
    const way = reward.locator(".step-mark.rollback .way");
    expect([await way.getAttribute("x2"), await way.getAttribute("x1")]).toEqual(["75%", "50%"]);
    expect(await page.locator("figure.curve .step-mark.alarm").count()).toBeGreaterThan(2);
    // Held-out points of each arm, before and after, and the one that was taken back.
    expect(await page.locator("figure.curve .held-out").count()).toBe(5);
    expect(await page.locator("figure.curve .held-out.taken-back").count()).toBe(1);
    expect(await page.evaluate(`"broken" in window`)).toBe(false);
    expect({ complaints, requests }).toEqual({ complaints: [], requests: [] });
  });

  it("shows one step in all panels while the pointer is over one, and the last when it has left", async () => {
    const { page } = await openPage(path);
    expect(await readouts(page, "Reward")).toEqual(["0.750", "1"]);
    const area = page.locator(".plot .area").first();
    // Steps 0 to 8: three eighths of the way is step 3.
    const { width } = (await area.boundingBox()) ?? { width: 0 };
    await area.hover({ position: { x: (width * 3) / 8, y: 20 } });
    expect(await readouts(page, "Reward")).toEqual(["0.300", "0.400"]);
    expect(await readouts(page, "Speed")).toEqual(["200", "200"]);
    const panels = await page.locator("figure.curve:visible").count();
    expect(await page.locator(".cursor.on:visible").count()).toBe(panels);
    expect(await page.locator(".stepper output").innerText()).toBe("3");
    await page.mouse.move(5, 5);
    expect(await readouts(page, "Reward")).toEqual(["0.750", "1"]);
    expect(await page.locator(".cursor.on").count()).toBe(0);
  });

  it("tells what happened at a step when the pointer comes near", async () => {
    const { page } = await openPage(path);
    const area = page.locator(".plot .area").first();
    const { width } = (await area.boundingBox()) ?? { width: 0 };
    await area.hover({ position: { x: (width * 4) / 8, y: 20 } });
    expect(await page.locator(".tip p").allInnerTexts()).toEqual([
      "rollback, step 6, klCoef 0.1: Went back to step 4.",
    ]);
    await area.hover({ position: { x: (width * 6) / 8, y: 20 } });
    expect(await page.locator(".tip p").allInnerTexts()).toEqual([
      `alarm, step 6, klCoef 0.1: Entropy rose.${ATTACK}`,
      "rollback, step 6, klCoef 0.1: Went back to step 4.",
    ]);
  });

  it("takes arms away and brings them back, switches smoothing and bands", async () => {
    const { page } = await openPage(path);
    const arm = page.locator(".arm-toggles button", { hasText: "klCoef 0.1" });
    const curve = page.locator("figure.curve").first().locator("g.arm.s1").first();
    await arm.click();
    expect([await arm.getAttribute("aria-pressed"), await curve.isVisible()]).toEqual([
      "false",
      false,
    ]);
    expect(await readouts(page, "Reward")).toEqual(["0.750"]);
    await arm.click();
    expect(await curve.isVisible()).toBe(true);
    const first = page.locator("figure.curve").first();
    await page.getByLabel("smooth").uncheck();
    expect(await first.locator("path.mean.smooth").first().isVisible()).toBe(false);
    expect(await first.locator("path.mean.raw").isVisible()).toBe(true);
    await page.getByLabel("no band").check();
    expect(await first.locator("path.band:visible").count()).toBe(0);
  });

  it("gives figures with paired differences, and the settings that differ alone", async () => {
    const { page } = await openPage(path);
    const rows = await page.locator("#held-out table").first().locator("tbody tr").allInnerTexts();
    expect(rows[0]).toBe("EM");
    expect(rows[1]).toMatch(/klCoef 0\s+2\s+0\.250\s+0\.750\s+\+0\.500/);
    expect(rows[2]).toMatch(/klCoef 0\.1\s+1\s+0\.250\s+0\.750\s+\+0\.500.*[^+−]0\.000/s);
    expect(await page.locator("#settings tbody tr").allInnerTexts()).toEqual([
      expect.stringMatching(/algorithm\.klCoef\s+0\s+0\.1/),
      expect.stringContaining("Not part of the comparison"),
      expect.stringMatching(/checkpoints\.every\s+–\s+2/),
    ]);
    expect(await page.locator("#events tbody tr").count()).toBe(2);
  });

  it("lays trajectories of two runs that were asked the same beside each other", async () => {
    const { page } = await openPage(path);
    await page.waitForSelector("#viewer-detail h3");
    await page.locator(".line", { hasText: "shared?" }).first().click();
    const sides = page.locator("#viewer-detail .side");
    await expect
      .poll(() => sides.locator(".side-name").allInnerTexts())
      .toEqual(["klCoef 0, seed 1", "klCoef 0.1"]);
    expect(await sides.locator(".badge").allInnerTexts()).toEqual(["right", "wrong"]);
    await page.selectOption("select[name=beside]", "-");
    await expect.poll(() => sides.count()).toBe(0);
    expect(await page.locator("#viewer-detail h3").innerText()).toBe("shared?");
  });

  it("shows what a return took back among the trajectories", async () => {
    const { page } = await openPage(path);
    await page.waitForSelector("#viewer-detail h3");
    await page.selectOption("select[name=return]", "by return 1");
    expect(await page.locator("#viewer-count").innerText()).toBe("2 of 6 trajectories");
    await page.locator(".line", { hasText: "shared?" }).click();
    await expect
      .poll(() => page.locator("#viewer-detail .facts").first().innerText())
      .toContain("5, taken back by return 1");
  });

  it("keeps a table of many arms within its box, its first column in sight", async () => {
    const places = Array.from({ length: 12 }, (_, i) =>
      writeRun(join(folder, `many${i}`), { klCoef: i, rewards: [0.05 * i, 0.5] }),
    );
    const file = await writePage(join(folder, "many.html"), places);
    const { page } = await openPage(file, { viewport: { width: 700, height: 900 } });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(700);
    const first = page.locator(".last-steps tbody th").first();
    const at = (await first.boundingBox())?.x;
    const scrolled = await page.evaluate(
      `(box => (box.scrollLeft = 1e6, box.scrollLeft))(document.querySelector(".last-steps").parentElement)`,
    );
    expect(scrolled).toBeGreaterThan(100);
    expect((await first.boundingBox())?.x).toBe(at);
    // Of the seventh arm on colours begin again, in another shape.
    expect(await page.locator(".arm-toggles .again").count()).toBe(6);
  });

  it("fits a phone without scrolling sideways and is readable in both looks", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      const { page } = await openPage(path, { colorScheme, viewport: { width: 400, height: 800 } });
      await page.waitForSelector("#viewer-detail h3");
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(400);
      expect(await page.evaluate(faintTexts)).toEqual([]);
      const nameless = page.locator(
        "select:not([aria-label]), table:not(:has(th[scope])), svg:not([aria-hidden])",
      );
      expect(await nameless.count()).toBe(0);
    }
  });

  it("shows the stages of a run one after another, and a run without a step", async () => {
    const staged = writeRun(join(folder, "staged"), { files: { "stages.json": "[]" } });
    const line = JSON.stringify({ step: 1, data: { "losses/sft": 2 }, timing: { seconds: 1 } });
    writeRun(join(staged, "stages", "1-sft"), { files: { "metrics.jsonl": `${line}\n` } });
    writeRun(join(staged, "stages", "2-train"), { rewards: [0.5, 1] });
    writeRun(join(staged, "stages", "3-again"), {});
    const { page, complaints } = await openPage(
      await writePage(join(folder, "staged.html"), [staged]),
    );
    expect(await page.locator("h3.stage").allInnerTexts()).toEqual([
      ...["Stage 1-sft", "Stage 2-train", "Stage 3-again"],
    ]);
    expect(await page.locator("[data-part='0'] figcaption b").first().innerText()).toBe("Loss");
    expect(await page.locator("[data-part='2']").innerText()).toContain("No step is done yet");
    expect(complaints).toEqual([]);
  });
});

import { expect, it } from "vitest";
import type { AtlasSystem } from "../../../src/view/documents/atlas-overview.ts";
import { atlasDocument } from "../../../src/view/documents/atlas.ts";
import { documentPage } from "../../../src/view/html/page.ts";
import { keptResults } from "../../helpers/kept-results.ts";

const made = { version: "0.1.0", date: "2026-01-03", command: "agentrl reproduce --all" };
const ATTACK = "<img src=x onerror=alert(1)>";

async function page(systems: readonly AtlasSystem[]): Promise<string> {
  let text = "";
  for await (const piece of documentPage(atlasDocument(systems), made)) text += piece;
  return text;
}

const measured: AtlasSystem = {
  name: "made",
  summary: `Arms differ.${ATTACK}`,
  family: "search-agents",
  claims: ["wins"],
  results: keptResults(),
  isCurrent: true,
};

it("shows each system's claims, the paper's cells, curves and the origin of every run, without a network", async () => {
  const html = await page([measured]);
  expect(html).toContain('data-verdict="supported"');
  expect(html).toContain('data-family="search-agents"');
  // The paper's cell, our mean, and what the miniature changes.
  for (const shown of ["0.480", "0.900", "The world is smaller."]) expect(html).toContain(shown);
  expect(html).toContain("Reward in training, and held-out EM");
  for (const origin of ["3f0c91be6a27", "2026-01-02", "agentrl reproduce made", "policy 493f"])
    expect(html).toContain(origin);
  expect(html).not.toContain(ATTACK);
  expect(html).not.toMatch(/(src|href)="https?:/);
});

it("begins with how many claims are decided, and a row of each with the paper's difference as a tick", async () => {
  const html = await page([measured]);
  expect(html).toContain("1 of 1");
  expect(html).toContain("1 supported");
  const first = html.slice(html.indexOf('id="tally"'), html.indexOf('id="overview"'));
  expect(first).toMatch(/<line class="paper"/);
  expect(first).toMatch(/wins: .*a &gt; b/s);
  // Instruments test the miniature: they count for nothing here.
  const instrument = await page([{ ...measured, family: "instrument" }]);
  expect(instrument).not.toContain("1 of 1");
  const results = { ...keptResults(), procedure: 1 as const };
  const old = await page([{ ...measured, results }]);
  expect(old).toContain("Older results");
  expect(old).not.toContain("1 of 1");
});

it("lists what is not measured, with the command that measures it", async () => {
  const html = await page([measured, { ...measured, name: "later", results: null }]);
  expect(html).toContain("agentrl reproduce later --keep");
  expect(html).toContain("not measured");
});

it("says which settings of claims are not those of a training, and whether results are of the recipe as it is", async () => {
  const html = await page([measured]);
  for (const shown of ["agentrl train --recipe made --tier mini", "dataset.people", "80"])
    expect(html).toContain(shown);
  const remeasure = "agentrl reproduce made --keep";
  expect(html).not.toContain(remeasure);
  for (const isCurrent of [false, null])
    expect(await page([{ ...measured, isCurrent }])).toContain(remeasure);
});

it("lists a recipe without claims under its family", async () => {
  const html = await page([{ ...measured, name: "bare", claims: [], results: null }]);
  expect(html).toContain("no claims yet");
  expect(html).not.toContain("agentrl reproduce bare");
});

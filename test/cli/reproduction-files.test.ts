import { packMeasures } from "../../src/experiment/claims/kept-measures.ts";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeReproductionFiles } from "../../src/cli/reproduction-files.ts";
import type { Reproduction } from "../../src/experiment/claims/claim-results.ts";
import { writeRun } from "../helpers/run-folder.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const ATTACK = "<img src=x onerror=alert(1)>";

const RESULT: Reproduction = {
  recipe: "made",
  summary: `Arms differ.${ATTACK}`,
  notes: ["The world is smaller."],
  paper: { id: "arXiv 1", title: "A paper" },
  tier: "mini",
  seeds: [1, 2],
  looks: [2],
  levels: [0.05],
  prior: { degrees: 4, deviation: 0.025 },
  questions: packMeasures(new Map()).questions,
  family: "search-agents",
  base: [],
  claimsHash: null,
  runs: [
    {
      key: "3f0c91be6a27",
      seed: 1,
      arms: ["wins/a"],
      measured: {},
      origin: {
        version: "0.1.0",
        date: "2026-01-02",
        command: "agentrl reproduce made",
        machine: {},
      },
    },
  ],
  calibration: {
    metric: "em",
    seeds: [1, 2],
    start: { range: [0.05, 0.3], mean: 0.1, isInside: true },
    end: { range: [0.35, 0.75], mean: 0.9, isInside: false },
  },
  claims: [
    {
      id: "wins",
      statement: "Search wins.",
      metric: "eval.after.em",
      relation: "a > b",
      role: "claim",
      instrument: null,
      kind: "method",
      effect: { size: 0.05, reason: "default of shares" },
      unequal: [],
      level: 0.05,
      source: "Table 1",
      verdict: "not able to show",
      questions: 40,
      isShare: true,
      comparisons: [
        {
          left: "a",
          relation: ">",
          right: "b",
          difference: 0.025,
          ci95: [-0.03, 0.08],
          p: 0.32,
          pHolm: 0.32,
          over: "seeds and questions",
          room: "ceiling",
          margin: 0,
          detectable: 0.041,
          isOpenEnded: false,
          pEffect: null,
          isShare: true,
          pEffectHolm: null,
          error: { total: 0.02, degrees: 2, seeds: 0.02, questions: 0 },
          verdict: "not able to show",
        },
      ],
      arms: ["a", "b"].map((name, i) => ({
        name,
        mean: 1 - i / 40,
        ci95: [0.9, 1],
        values: [1, 0.975],
        seeds: [1, 2],
        bounds: 0,
        isSameForAllSeeds: false,
        dataset: "tinyworld",
        model: "base",
        paper: {
          table: "t1",
          system: "RL",
          dataset: "NQ",
          metric: "em",
          model: "Qwen",
          split: null,
          value: 0.48,
        },
      })),
    },
  ],
};

it("writes a self-contained page and Markdown with verdict, cells, curves and origin", async () => {
  const run = writeRun(join(folder, "run"), { klCoef: 0, seed: 1, rewards: [0, 0.5, 1] });
  const kept = await writeReproductionFiles(RESULT, () => run, { out: folder, before: null });
  const [page, text] = [join(folder, "report.html"), join(folder, "report.md")];
  const html = readFileSync(page, "utf8");
  expect(html).toContain("NOT ABLE TO SHOW");
  expect(html).toContain("The paper measured something else: dataset NQ, here tinyworld");
  expect(html).toContain("The world is smaller.");
  expect(html).toContain('id="curves"');
  expect(html).not.toContain(ATTACK);
  expect(html).not.toMatch(/(src|href)="https?:/);
  const md = readFileSync(text, "utf8");
  expect(md).toContain("wins  NOT ABLE TO SHOW  ceiling: even all 40 questions right");
  expect(md).toContain(
    "Control: em from 0.100 (0.05 to 0.3) to 0.900 (0.35 to 0.75), outside its ranges.",
  );
  expect(md).toMatch(/\| `a > b` \|.*\| 0\.041 \| not able to show \|/);
  expect(md).toContain("| a | 1.000 | 0.900 … 1.000 | 0.480 |");
  // The same command writes both anew.
  writeFileSync(text, "old");
  await writeReproductionFiles(RESULT, () => join(folder, "gone"), { out: folder, before: null });
  expect(readFileSync(text, "utf8")).toBe(md);
  // The results hold the curve and where each number comes from.
  expect(kept.runs).toMatchObject([
    { key: "3f0c91be6a27", origin: { command: "agentrl reproduce made" } },
  ]);
  expect(kept.runs[0]?.reward.map(({ value }) => value)).toEqual([0, 0.5, 1]);
});

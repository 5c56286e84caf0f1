// Writes the table of docs/devices.md: which model trains on which card, by forecast. With --check it only compares.
// Reads dist/, so build first (`npm run scale` does). Takes half a minute: every graph is built and its run planned.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { forecastMemory } from "../dist/engine/local/forecast.js";
import { targetModules } from "../dist/models/lora/target-modules.js";
import { publishedShapes } from "../dist/models/published-shapes.js";

const ROW = 4096;
const MICRO_BATCHES = [ROW, 4 * ROW];
const CARDS = [8, 24, 80];
const HALF = "float16";
const lora = { rank: 16, alpha: 32, rslora: false, targets: targetModules };

const page = join(import.meta.dirname, "..", "docs", "devices.md");
const [begin, end] = ["<!-- table: begin -->", "<!-- table: end -->"];
const before = readFileSync(page, "utf8");
const [head, rest] = before.split(begin);
const [, tail] = rest.split(end);
const text = `${head}${begin}\n\n${table()}\n\n${end}${tail}`;
if (text === before) console.log("docs/devices.md is what the code says");
else if (process.argv.includes("--check")) {
  console.error("docs/devices.md is not what the code says: run `npm run scale` and commit it.");
  process.exitCode = 1;
} else {
  writeFileSync(page, text);
  console.log("docs/devices.md written");
}

function table() {
  const titles = ["model", "trained", "weights", "state", "cache", "run", "graphs", "all"];
  const rows = publishedShapes.flatMap(({ name, config }) =>
    [
      { trained: "all", lora: null, frozen: null },
      { trained: "LoRA 16", lora, frozen: null },
      { trained: `LoRA 16, ${HALF}`, lora, frozen: HALF },
    ].map(({ trained, ...held }) => {
      const [one, four] = MICRO_BATCHES.map((tokens) => forecast(config, held, tokens));
      const fits = CARDS.map((card) => {
        const most = [four, one].findIndex(({ total }) => total <= card * 1e9);
        return most < 0 ? "–" : String(MICRO_BATCHES.at(-1 - most));
      });
      const bytes = Object.fromEntries(one.parts.map((part) => [part.name, part.bytes]));
      const run = Object.entries(bytes).find(([part]) => part.includes("activations"))[1];
      const state = bytes.gradients + bytes["optimiser's moments"];
      const cells = [bytes.weights, state, bytes["key/value cache"], run, bytes["compiled graphs"]];
      return [name.split("/")[1], trained, ...[...cells, one.total].map(gigabytes), ...fits];
    }),
  );
  const heads = [...titles, ...CARDS.map((card) => `${card} GB`)];
  const rule = heads.map((_, i) => (i < 2 ? "---" : "--:"));
  return [heads, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function forecast(config, held, microBatchTokens) {
  return forecastMemory({
    ...{
      config,
      ...held,
      lossless: null,
      device: "webgpu",
      workers: 1,
      slots: 16,
      microBatchTokens,
    },
    ...{ recompute: true, rowTokens: ROW, scoredShare: 0.5, references: 0, samples: true },
    ...{ loss: { name: "policy-gradient", options: { klCoef: 0 } }, sequences: Infinity },
    ...{ rescores: false },
  });
}

function gigabytes(bytes) {
  return (bytes / 1e9).toFixed(1);
}

// Measures the bases of recipes/bases on the worlds of their recipes and writes the table of docs/bases.md. A row that is not measured stays.
// Usage: npm run build && node scripts/base-cards.mjs [NAME…]
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findBase } from "../dist/run/bases.js";
import { shippedBases } from "../dist/run/settings/base-names.js";

const root = join(import.meta.dirname, "..");
const page = join(root, "docs", "bases.md");
const [begin, end] = ["<!-- table: begin -->", "<!-- table: end -->"];
const DRAWS = 16;
const QUESTIONS = { once: 300, often: 60 };

/** Results of `agentrl eval` at temperature 1. */
function measured(name, questions, draws) {
  const flags = ["--recipe", name, "--policy", name, "--temperature", "1", "--json"];
  const size = ["--limit", String(questions), "--set", `evaluation.samplesPerTask=${draws}`];
  const stdio = ["ignore", "pipe", "inherit"];
  const args = [join(root, "bin", "agentrl.js"), "eval", ...flags, ...size];
  return JSON.parse(execFileSync(process.execPath, args, { stdio, encoding: "utf8" })).metrics;
}

async function rowOf(name) {
  const { em, search_rate, format_rate, invalid_action_rate } = measured(name, QUESTIONS.once, 1);
  const often = measured(name, QUESTIONS.often, DRAWS);
  const { folder } = await findBase(name);
  const [, seconds] = /in (\d+) s on/.exec(readFileSync(join(folder, "README.md"), "utf8"));
  const shares = [em, often[`avg@${DRAWS}`], often[`pass@${DRAWS}`]];
  shares.push(1 - (invalid_action_rate ?? 0), format_rate, search_rate ?? 0);
  return `| \`${name}\` | ${[...shares.map((share) => share.toFixed(3)), seconds].join(" | ")} |`;
}

const text = readFileSync(page, "utf8");
const [head, rest] = text.split(begin);
const [table, tail] = rest.split(end);
const [heads, rule, ...old] = table.trim().split("\n");
const rows = new Map(old.map((row) => [/`([^`]+)`/.exec(row)[1], row]));
const names = process.argv.slice(2);
for (const name of names.length > 0 ? names : shippedBases()) rows.set(name, await rowOf(name));
const sorted = [...rows].sort(([a], [b]) => a.localeCompare(b)).map(([, row]) => row);
const lines = [heads, rule, ...sorted].join("\n");
writeFileSync(page, `${head}${begin}\n\n${lines}\n\n${end}${tail}`);

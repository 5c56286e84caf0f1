// Draws a run's training curve for the README: node scripts/curve-image.mjs RUN OUT.svg
// One colour scheme that is readable on light and on dark pages; the background is transparent.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [run, out] = process.argv.slice(2);
if (run === undefined || out === undefined) {
  console.error("usage: node scripts/curve-image.mjs RUN OUT.svg");
  process.exit(2);
}

const WIDTH = 640;
const HEIGHT = 260;
const LEFT = 48;
const RIGHT = 52;
const TOP = 34;
const BOTTOM = 40;
const TEXT = "#7d8590";
const GRID = "#7d859055";
const TRAINING = "#3b82f6";
const HELD_OUT = "#f97316";

const steps = readFileSync(join(run, "metrics.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line))
  .map(({ step, data }) => ({ step, value: data["reward/exact-match"] }));
const last = steps.at(-1).step;
const heldOut = [
  { step: 0, value: emOf("before") },
  { step: last, value: emOf("after") },
];

function emOf(name) {
  return JSON.parse(readFileSync(join(run, "eval", `${name}.json`), "utf8")).metrics.em;
}

const x = (step) => LEFT + (step / last) * (WIDTH - LEFT - RIGHT);
const y = (value) => HEIGHT - BOTTOM - value * (HEIGHT - TOP - BOTTOM);
const at = ({ step, value }) => `${x(step).toFixed(1)},${y(value).toFixed(1)}`;
const text = (content, px, py, attributes = "") =>
  `<text x="${px.toFixed(1)}" y="${py.toFixed(1)}" ${attributes}>${content}</text>`;

const rows = [0, 0.25, 0.5, 0.75, 1].flatMap((value) => [
  `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(value)}" y2="${y(value)}" stroke="${GRID}"/>`,
  text(value.toFixed(2), LEFT - 8, y(value) + 4, 'text-anchor="end"'),
]);
const ticks = Array.from({ length: Math.floor(last / 10) + 1 }, (_, i) =>
  text(String(i * 10), x(i * 10), HEIGHT - BOTTOM + 18, 'text-anchor="middle"'),
);
const dots = heldOut.map((each) => {
  const [cx, cy] = [x(each.step), y(each.value)];
  const label = text(each.value.toFixed(2), cx + 10, cy + 4, `fill="${HELD_OUT}"`);
  return `<circle cx="${cx.toFixed(1)}" cy="${cy.toFixed(1)}" r="5" fill="${HELD_OUT}"/>${label}`;
});

writeFileSync(
  out,
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" font-family="system-ui, sans-serif" font-size="12" fill="${TEXT}">
<title>Exact match by training step</title>
<g>${text("exact match", LEFT, 18)}${text("training batch", LEFT + 110, 18, `fill="${TRAINING}"`)}${text("held-out questions", LEFT + 210, 18, `fill="${HELD_OUT}"`)}</g>
${rows.join("\n")}
${ticks.join("\n")}
${text("training step", (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, 'text-anchor="middle"')}
<polyline points="${steps.map(at).join(" ")}" fill="none" stroke="${TRAINING}" stroke-width="2"/>
${dots.join("\n")}
</svg>
`,
);

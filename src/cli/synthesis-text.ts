import { join } from "node:path";
import { fixed, formatCount, formatDuration } from "../base/format.ts";
import { renderText } from "../base/table.ts";
import type { SynthOutcome, SynthResult } from "../run/synth/run-synth.ts";
import type { DrawYield, StepYield } from "../synth/yields.ts";
import { requestsText } from "./evaluation-text.ts";

/** A synthesis for people: the yield of each draw, the samples kept by each step, and the files. */
export function synthesisText(result: SynthResult, out: string): string {
  const { recipe, tier, seed, teacher, dataset, questions, draws, yields, files } = result;
  const who = [teacher.name, teacher.model ?? teacher.from].filter((text) => text !== undefined);
  const written = Object.entries(files).filter(
    ([name, { rows }]) => rows > 0 || name === "samples.jsonl",
  );
  return [
    `${who.join(" ")} on ${dataset}: ${questions} questions; recipe ${recipe}, tier ${tier}, seed ${seed}`,
    "",
    drawTable(draws),
    "",
    stepTable(yields),
    "",
    renderText({
      columns: [{ label: "", format: formatCount }],
      rows: written.map(([name, { rows }]) => [rows, join(out, name)]),
    }),
  ].join("\n");
}

function drawTable(draws: readonly DrawYield[]): string {
  const hinted = draws.some(({ hints }) => Object.keys(hints).length > 0);
  return renderText({
    columns: [
      "draw",
      ...["rollouts", "failed"].map((label) => ({ label, format: formatCount })),
      { label: "used tools", format: fixed(3) },
      { label: "searches", format: fixed(2) },
      ...["answered", "reward"].map((label) => ({ label, format: fixed(3) })),
      ...(hinted ? ["hints"] : []),
    ],
    rows: draws.map(({ name, rollouts, failed, hints, ...means }) => [
      ...[name, rollouts, failed, means.toolRate, means.searches, means.answerRate, means.reward],
      ...(hinted ? [counts(hints)] : []),
    ]),
  });
}

function stepTable(yields: readonly StepYield[]): string {
  return renderText({
    columns: [
      "step",
      ...["in", "out", "questions"].map((label) => ({ label, format: formatCount })),
      "dropped",
    ],
    rows: yields.map(({ name, out, questions, dropped, mended, pairs, ...step }) => {
      const notes = [
        counts(dropped),
        mended > 0 ? `${mended} repaired` : "",
        pairs > 0 ? `${pairs} pairs` : "",
      ];
      return [name, step.in, out, questions, notes.filter((text) => text !== "").join("; ")];
    }),
  });
}

/** @example counts({ wrong: 3, leaked: 12 }) // "12 leaked, 3 wrong" */
function counts(by: Readonly<Record<string, number>>): string {
  return Object.entries(by)
    .sort(([, a], [, b]) => b - a)
    .map(([what, count]) => `${count} ${what}`)
    .join(", ");
}

/** Speed of a synthesis and requests to a server, as text. */
export function drawnText({ drawn: { rollouts, seconds }, requests }: SynthOutcome): string {
  const rate = seconds > 0 ? `, ${(rollouts / seconds).toFixed(1)}/s` : "";
  const asked = requests === undefined ? "" : `; ${requestsText(requests)}`;
  return `${formatCount(rollouts)} trajectories in ${formatDuration(seconds)}${rate}${asked}`;
}

import { join } from "node:path";
import type { SynthOutcome, SynthResult } from "../recipe/synth/run-synth.ts";
import type { DrawYield, StepYield } from "../synth/yields.ts";
import { table } from "./table.ts";

/** A synthesis for people: what each draw gave, what each step let through, and where the samples are. */
export function synthesisText(result: SynthResult, out: string): string {
  const { recipe, tier, seed, teacher, dataset, questions, draws, yields, files } = result;
  const who = [teacher.name, teacher.model ?? teacher.from].filter((text) => text !== undefined);
  const written = Object.entries(files)
    .filter(([name, { rows }]) => rows > 0 || name === "samples.jsonl")
    .map(([name, { rows }]) => [String(rows), join(out, name)]);
  return [
    `${who.join(" ")} on ${dataset}: ${questions} questions; recipe ${recipe}, tier ${tier}, seed ${seed}`,
    "",
    drawTable(draws),
    "",
    stepTable(yields),
    "",
    table(written, { align: ["right", "left"] }),
  ].join("\n");
}

function drawTable(draws: readonly DrawYield[]): string {
  const number = (value: number | null, digits: number): string => value?.toFixed(digits) ?? "–";
  const rows = draws.map(({ name, rollouts, failed, hints, ...means }) => [
    ...[name, String(rollouts), String(failed), number(means.toolRate, 3)],
    ...[number(means.searches, 2), number(means.answerRate, 3), number(means.reward, 3)],
    counts(hints),
  ]);
  const head = ["draw", "rollouts", "failed", "used tools", "searches", "answered", "reward"];
  const fired = draws.some(({ hints }) => Object.keys(hints).length > 0);
  return table(
    rows.map((row) => (fired ? row : row.slice(0, -1))),
    {
      head: fired ? [...head, "hints"] : head,
      align: ["left", ...Array<"right">(head.length - 1).fill("right"), "left"],
    },
  );
}

function stepTable(yields: readonly StepYield[]): string {
  const rows = yields.map(({ name, out, questions, dropped, mended, pairs, ...row }) => {
    const notes = [
      counts(dropped),
      ...(mended > 0 ? [`${mended} mended`] : []),
      ...(pairs > 0 ? [`${pairs} pairs`] : []),
    ];
    const note = notes.filter((text) => text !== "").join("; ");
    return [name, String(row.in), String(out), String(questions), note];
  });
  return table(rows, {
    head: ["step", "in", "out", "questions", "dropped"],
    align: ["left", "right", "right", "right", "left"],
  });
}

/** @example counts({ wrong: 3, leaked: 12 }) // "12 leaked, 3 wrong" */
function counts(by: Readonly<Record<string, number>>): string {
  return Object.entries(by)
    .sort(([, a], [, b]) => b - a)
    .map(([what, count]) => `${count} ${what}`)
    .join(", ");
}

/** How fast a synthesis drew, and what a server was asked, for people. */
export function drawnText({ drawn: { rollouts, seconds }, requests }: SynthOutcome): string {
  const rate = seconds > 0 ? `, ${(rollouts / seconds).toFixed(1)}/s` : "";
  const asked =
    requests === undefined
      ? ""
      : `; ${requests.requests} requests (${requests.retries} retried, ${requests.failed} given up), ${requests.promptTokens} + ${requests.completionTokens} tokens`;
  return `${rollouts} trajectories in ${seconds.toFixed(1)} s${rate}${asked}`;
}

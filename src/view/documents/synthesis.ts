import { join } from "node:path";
import {
  formatCount,
  formatDuration,
  formatMean,
  formatPercent,
  formatRate,
  formatScore,
} from "../../base/format.ts";
import type { SynthOutcome, SynthResult } from "../../run/synth/run-synth.ts";
import type { DrawnQuestion } from "../../synth/draw-log.ts";
import type { DrawYield, StepYield } from "../../synth/yields.ts";
import type { Decode, Trajectory } from "../../trajectory/trajectory.ts";
import {
  type Block,
  type Cell,
  type Column,
  type Document,
  type Inline,
  code,
  heading,
  note,
  strong,
  table,
} from "../document.ts";
import type { Synthesis, SynthesisFiles } from "../synthesis-files.ts";
import { SAMPLES_SPEC, sampleItems } from "../viewer/sample-items.ts";
import { requestsText } from "./scores.ts";

type Yields = readonly (Omit<StepYield, "kind"> & { kind: string })[];
type Facts = Pick<Synthesis, "dataset" | "questions" | "recipe" | "tier" | "seed"> & {
  teacher: { name: string; from?: string; model?: string };
};

/**
 * The report of a synthesis: the yield of each draw, the kept and dropped samples of each step with reasons, and every sample. Files are
 * read twice; memory holds only numbers and the viewer's list.
 *
 * @param decode decoder of the teacher's tokens; null without its tokenizer.
 * @throws {DataError} JSONL_BAD_LINE.
 */
export async function synthesisDocument(
  files: SynthesisFiles,
  decode: Decode | null,
): Promise<Document> {
  const { draws, yields, failures, readsGold } = files.synthesis;
  const drawn = Math.max(0, ...yields.map((step) => step.in));
  const codes = Object.entries(failures).sort(([, a], [, b]) => b - a);
  const failed = codes.map(([name, number], i): Inline => [
    i > 0 && ", ",
    strong(formatCount(number)),
    " ",
    code(name),
  ]);
  return {
    kind: "synthesis",
    title: files.name,
    lead: [
      [
        factsOf(files.synthesis),
        readsGold && [" ", { text: "the search uses the gold", style: "trouble" }],
      ],
    ],
    sections: [
      {
        id: "steps",
        title: "Steps",
        note: `${formatCount(yields.at(-1)?.out ?? 0)} samples of ${formatCount(drawn)} draws are left`,
        blocks: [
          stepTable(yields),
          ...(failed.length > 0 ? [note("Failed draws, without a sample: ", failed)] : []),
        ],
      },
      {
        id: "draws",
        title: "Draws",
        note: "before any step",
        blocks: [drawTable(draws), ...triggerTable(await triggerRates(files.draws()), draws)],
      },
    ],
    viewer: {
      id: "samples",
      title: "Samples",
      spec: SAMPLES_SPEC,
      items: sampleItems(files, decode),
    },
  };
}

/** A synthesis for a terminal, with its files. */
export function synthesisBlocks(synthesis: SynthResult, out: string): Block[] {
  const files = Object.entries(synthesis.files).filter(
    ([name, { rows }]) => rows > 0 || name === "samples.jsonl",
  );
  return [
    { kind: "text", text: factsOf(synthesis) },
    drawTable(synthesis.draws),
    stepTable(synthesis.yields),
    table(
      "Files",
      [{ label: "rows", format: formatCount }, "file"],
      files.map(([name, { rows }]) => [rows, join(out, name)]),
    ),
  ];
}

/** Speed of a synthesis and requests to a server, as text. */
export function drawnText({ drawn: { rollouts, seconds }, requests }: SynthOutcome): string {
  const rate = seconds > 0 ? `, ${formatRate(rollouts / seconds)}/s` : "";
  const asked = requests === undefined ? "" : `; ${requestsText(requests)}`;
  return `${formatCount(rollouts)} trajectories in ${formatDuration(seconds)}${rate}${asked}`;
}

function factsOf({ teacher, dataset, questions, recipe, tier, seed }: Facts): string {
  const who = [teacher.name, teacher.model ?? teacher.from].filter((each) => each !== undefined);
  return [
    `teacher ${who.join(" ")}`,
    `${formatCount(questions)} questions of ${dataset}`,
    `recipe ${recipe} (${tier})`,
    `seed ${seed}`,
  ].join(" · ");
}

function counted(...labels: string[]): Column[] {
  return labels.map((label) => ({ label, format: formatCount }));
}

/** Samples by step: a bar per step relative to all draws, and the reasons for dropped samples. */
function stepTable(yields: Yields): Block {
  const drawn = Math.max(1, ...yields.map((step) => step.in));
  return table(
    "Samples by step",
    [
      "step",
      { label: "samples", drawn: true },
      ...counted("in", "out"),
      { label: "kept", format: formatPercent },
      ...counted("questions"),
      { label: "dropped, repaired", className: "reasons" },
    ],
    yields.map(({ name, kind, out, questions, dropped, mended, pairs, ...step }) => [
      kind === name ? name : [name, { text: kind, style: "small" }],
      { yield: { in: step.in / drawn, out: out / drawn } },
      ...[step.in, { value: out }, step.in === 0 ? 0 : out / step.in, questions],
      [
        ...Object.entries(dropped)
          .sort(([, a], [, b]) => b - a)
          .map(([why, count]) => `${formatCount(count)} ${why}`),
        ...(mended > 0 ? [`${formatCount(mended)} repaired`] : []),
        ...(pairs > 0 ? [`${formatCount(pairs)} pairs`] : []),
      ].join(", "),
    ]),
    "panel lines",
  );
}

/** The yield of each draw before any step. */
function drawTable(draws: readonly DrawYield[]): Block {
  const hinted = draws.some(({ hints }) => Object.keys(hints).length > 0);
  const bar = (share: number | null, series: number): Cell =>
    share === null ? undefined : { share, series };
  return table(
    "Draws",
    [
      "draw",
      ...counted("trajectories", "failed"),
      { label: "", drawn: true },
      { label: "used tools", format: formatPercent },
      { label: "", drawn: true },
      { label: "answered", format: formatPercent },
      { label: "searches", format: formatMean },
      { label: "reward", format: formatScore },
      ...(hinted ? ["hints"] : []),
    ],
    draws.map(
      ({ name, rollouts, failed, toolRate, answerRate, searches, reward, hints }, series) => [
        ...[
          name,
          rollouts,
          failed,
          bar(toolRate, series),
          toolRate,
          bar(answerRate, series),
          answerRate,
        ],
        ...[searches, reward],
        ...(hinted
          ? [
              Object.entries(hints)
                .map(([hint, count]) => `${count} ${hint}`)
                .join(", "),
            ]
          : []),
      ],
    ),
    "panel lines",
  );
}

/** Tool use with and without inserted hints; nothing if no draw had a hint. */
function triggerTable(rates: readonly TriggerRate[], draws: readonly DrawYield[]): Block[] {
  if (rates.every(({ hinted }) => hinted.trajectories === 0)) return [];
  const groups = rates.map(({ draw, hinted, plain }, series) => {
    const { hints = {} } = draws.find(({ name }) => name === draw) ?? {};
    const kinds = Object.entries(hints).map(([name, number]) => `${name} ${number}`);
    const hint = kinds.length === 0 ? "with a hint" : `with a hint (${kinds.join(", ")})`;
    const all: [label: string, of: number, used: number][] = [
      ["without a hint", plain.trajectories, plain.tools],
      [hint, hinted.trajectories, hinted.tools],
      ["… after the first hint", hinted.trajectories, hinted.after],
    ];
    return {
      side: draw,
      rows: all
        .filter(([, of]) => of > 0)
        .map(([label, of, used]): Cell[] => [
          label,
          { share: used / of, series },
          { value: used / of, remark: `${formatCount(used)} of ${formatCount(of)}` },
        ]),
    };
  });
  const caption = "Tools with and without hints";
  return [
    heading(caption),
    {
      kind: "table",
      caption,
      className: "panel lines",
      columns: [
        "draw",
        { label: "trajectories", className: "what" },
        { label: "used a tool", drawn: true },
        { label: "share", format: formatPercent },
      ],
      groups,
    },
  ];
}

/** Tool use of one draw's trajectories, with and without hints. */
interface TriggerRate {
  draw: string;
  /** Trajectories with a hint; among them those in which a tool ran, and ran after the first hint. */
  hinted: { trajectories: number; tools: number; after: number };
  plain: { trajectories: number; tools: number };
}

/** One pass over draws; failed ones do not count. */
async function triggerRates(draws: AsyncIterable<DrawnQuestion>): Promise<TriggerRate[]> {
  const rates = new Map<string, TriggerRate>();
  for await (const { candidates } of draws) {
    for (const { trajectory, provenance } of candidates) {
      if (trajectory.error !== undefined) continue;
      const { name } = provenance.draw;
      const rate = rates.get(name) ?? emptyRate(name);
      rates.set(name, rate);
      addTo(rate, trajectory);
    }
  }
  return [...rates.values()];
}

function emptyRate(draw: string): TriggerRate {
  return {
    draw,
    hinted: { trajectories: 0, tools: 0, after: 0 },
    plain: { trajectories: 0, tools: 0 },
  };
}

function addTo({ hinted, plain }: TriggerRate, { hints = [], turns }: Trajectory): void {
  const used = turns.filter(({ observations }) => observations.length > 0);
  const of = hints.length > 0 ? hinted : plain;
  of.trajectories += 1;
  of.tools += used.length > 0 ? 1 : 0;
  const first = hints[0]?.call;
  if (first !== undefined) hinted.after += used.some(({ call }) => call >= first) ? 1 : 0;
}

import { fixed, formatCount, formatPercent } from "../../base/format.ts";
import type { Decode } from "../../trajectory/segment-text.ts";
import { shareBar, yieldBar } from "../charts/marks.ts";
import type { Synthesis, SynthesisFiles } from "../synthesis-files.ts";
import { type TriggerRate, triggerRates } from "../trigger-rates.ts";
import { SAMPLES_SPEC, sampleItems } from "../viewer/sample-items.ts";
import { type HtmlColumn, type HtmlGroup, measured, small, tableCard } from "./html-table.ts";
import type { Made } from "./made.ts";
import { type Content, html, type Markup, note, tag } from "./markup.ts";
import { reportPage } from "./report-page.ts";

type Draw = Synthesis["draws"][number];
type Step = Synthesis["yields"][number];

/**
 * The report of a synthesis as one self-contained page, in pieces: the yield of each draw, the kept and dropped samples of each step with
 * reasons, and every sample in a viewer. Files are read twice; memory holds only numbers and the viewer's list.
 *
 * @param decode decoder of the teacher's tokens; null without its tokenizer.
 * @throws {DataError} FILE_MISSING when the package was not built; JSONL_BAD_LINE.
 */
export async function* samplesPage(
  files: SynthesisFiles,
  decode: Decode | null,
  made: Made,
): AsyncGenerator<string> {
  const { draws, yields } = files.synthesis;
  const drawn = Math.max(0, ...yields.map((step) => step.in));
  const left = yields.at(-1)?.out ?? 0;
  const rates = await triggerRates(files.draws());
  yield* reportPage({
    kind: "synthesis",
    title: files.name,
    headlines: [headline(files)],
    made,
    sections: [
      {
        id: "steps",
        title: "Steps",
        note: `${formatCount(left)} samples of ${formatCount(drawn)} draws are left`,
        content: yieldTable(files.synthesis),
      },
      {
        id: "draws",
        title: "Draws",
        note: "before any step",
        content: [drawTable(draws), triggerTable(rates, draws)],
      },
    ],
    viewer: {
      id: "samples",
      title: "Samples",
      spec: SAMPLES_SPEC,
      items: sampleItems(files, decode),
    },
  });
}

function headline({ synthesis }: SynthesisFiles): Markup {
  const { teacher, dataset, questions, recipe, tier, seed, readsGold } = synthesis;
  const who = [teacher.name, teacher.model ?? teacher.from].filter((each) => each !== undefined);
  const facts = [
    `teacher ${who.join(" ")}`,
    `${formatCount(questions)} questions of ${dataset}`,
    `recipe ${recipe} (${tier})`,
    `seed ${seed}`,
  ];
  const warning = readsGold && tag("strong", { class: "badge failed" }, "the search uses the gold");
  return html`<p class="headline">${facts.join(" · ")} ${warning}</p>`;
}

const CHART = { className: "chart" };

function counts(...labels: string[]): HtmlColumn[] {
  return labels.map((label) => ({ label, format: formatCount }));
}

/** Samples by step: a bar per step relative to all draws, and the reasons for dropped samples. */
function yieldTable({ yields, failures }: Synthesis): Content {
  const drawn = Math.max(1, ...yields.map((step) => step.in));
  const codes = Object.entries(failures).sort(([, a], [, b]) => b - a);
  const failed = codes.map(([code, number], i) => [
    ...[i > 0 && ", ", tag("b", {}, formatCount(number)), " ", tag("code", {}, code)],
  ]);
  return [
    tableCard({
      caption: "Samples by step",
      className: "panel lines",
      columns: [
        "step",
        { label: "samples", ...CHART },
        ...counts("in", "out", "questions"),
        { label: "dropped, repaired", className: "reasons" },
      ],
      rows: yields.map((step) => [
        [step.name, step.kind !== step.name && small(step.kind)],
        yieldBar({ in: step.in / drawn, out: step.out / drawn }, 0),
        step.in,
        [
          measured(step.out, formatCount),
          small(formatPercent(step.in === 0 ? 0 : step.out / step.in)),
        ],
        step.questions,
        reasons(step),
      ]),
    }),
    failed.length > 0 && note("Failed draws, without a sample: ", failed),
  ];
}

function reasons({ dropped, mended, pairs }: Step): Content {
  const why = [
    ...Object.entries(dropped).sort(([, a], [, b]) => b - a),
    ...(mended > 0 ? [["mended", mended] as const] : []),
    ...(pairs > 0 ? [["pairs made", pairs] as const] : []),
  ];
  if (why.length === 0) return "";
  const items = why.map(([reason, count]) =>
    tag("li", {}, tag("b", {}, formatCount(count)), ` ${reason}`),
  );
  return tag("ul", {}, items);
}

/** The yield of each draw before any step. */
function drawTable(draws: readonly Draw[]): Markup {
  return tableCard({
    caption: "Draws",
    className: "panel lines",
    columns: [
      "draw",
      ...counts("trajectories", "failed"),
      { label: "used a tool", ...CHART },
      { label: "", format: formatPercent },
      { label: "gave an answer", ...CHART },
      { label: "", format: formatPercent },
      { label: "searches", format: fixed(2) },
      { label: "reward", format: fixed(3) },
    ],
    rows: draws.map(({ name, rollouts, failed, toolRate, answerRate, ...means }, series) => [
      ...[name, rollouts, failed, toolRate === null ? "" : shareBar(toolRate, series), toolRate],
      ...[answerRate === null ? "" : shareBar(answerRate, series), answerRate],
      ...[means.searches, means.reward],
    ]),
  });
}

/** Tool use with and without inserted hints; nothing if no draw had a hint. */
function triggerTable(rates: readonly TriggerRate[], draws: readonly Draw[]): Content {
  if (rates.every(({ hinted }) => hinted.trajectories === 0)) return null;
  const groups = rates.map(({ draw, hinted, plain }, series): HtmlGroup => {
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
        .map(([label, of, used]) => [
          label,
          shareBar(used / of, series),
          [measured(used / of, formatPercent), small(`${formatCount(used)} of ${formatCount(of)}`)],
        ]),
    };
  });
  return [
    html`<h3>Tools with and without hints</h3>`,
    tableCard({
      caption: "Trajectories that used a tool, with hints and without",
      className: "panel lines",
      groups,
      columns: [
        "draw",
        { label: "trajectories", className: "what" },
        { label: "used a tool", ...CHART },
        { label: "share", align: "right" },
      ],
    }),
  ];
}

import { basename } from "node:path";
import { fixed, formatCount, formatInterval, orAbsent, plural, signed } from "../../base/format.ts";
import { parseEvaluationName } from "../../evaluate/evaluation-name.ts";
import { metricLabel } from "../../evaluate/metrics/metric-columns.ts";
import { armsOf, type Arm, type EffectOf } from "../runs/arms.ts";
import { heldOutComparison } from "../runs/held-out-comparison.ts";
import { lastFigures, lastStepsText } from "../runs/last-steps.ts";
import { partsOf, type RunPart } from "../runs/run-parts.ts";
import type { RunFiles } from "../runs/run-files.ts";
import { sampleTrajectories, type TrajectoryBounds } from "../runs/run-trajectories.ts";
import { RUN_SPEC, runItems, type RunReading, type SampledStep } from "../viewer/run-items.ts";
import { type Content, html, type Markup, note, seriesLabel, tag } from "./markup.ts";
import { type HeadlineFigure, headlineFigures } from "./headline-figures.ts";
import { small } from "./html-table.ts";
import type { Made } from "./made.ts";
import { type ReportSection, reportPage } from "./report-page.ts";
import { curveControls, curveNote, curvePart } from "./run-curves.ts";
import { heldOutTable, lastStepsTable, PAIRED_NOTE } from "./run-figure-tables.ts";
import { eventTable, runsTable, settingsTable } from "./run-tables.ts";

/** Options of a page of runs. */
export interface RunPageOptions {
  /** Which settings make runs comparable. */
  effectOf: EffectOf;
  /** Tokenizer and questions for the trajectories of a run or stage. */
  readingOf: (run: RunFiles) => Promise<RunReading>;
  /** Bounds of all runs together: each has the same share of `characters`. */
  trajectories: TrajectoryBounds;
  made: Made;
}

/**
 * The report of runs as one self-contained page, in pieces: curves with a band over the seeds of an arm, final figures, settings that
 * differ, events, and a sample of trajectories by step. Nothing is written; an unfinished run is shown as far as it is.
 *
 * @param runs at least one, no folder twice.
 * @throws {DataError} FILE_MISSING when the package was not built.
 */
export async function* runPage(
  runs: readonly RunFiles[],
  options: RunPageOptions,
): AsyncGenerator<string> {
  const base = armsOf(runs, options.effectOf);
  const { arms, differences, conduct } = base;
  const parts = await partsOf(arms);
  const heldOut = await heldOutComparison(arms);
  const setTables: Content[] = [];
  for (const set of setNames(runs))
    setTables.push([
      tag("h3", {}, `Evaluation set ${set}`),
      heldOutTable(`Evaluation set ${set}`, await heldOutComparison(arms, set)),
    ]);
  const samples = await sampledSteps(parts, options);
  const events = runs.flatMap((run) => [run, ...run.stages].flatMap((own) => own.events));
  const sections: (ReportSection | false)[] = [
    heldOut.length > 0 && {
      id: "held-out",
      title: "Held-out questions",
      content: [
        headlineFigures(answers(heldOut)),
        ...[heldOutTable("Held-out questions", heldOut), ...setTables, note(PAIRED_NOTE)],
      ],
    },
    {
      id: "curves",
      title: "Curves",
      note: "by step",
      content: [curveControls(parts), parts.flatMap(curvePart), note(curveNote(parts))],
    },
    { id: "figures", title: "End of training", content: figures(parts) },
    differences.length + conduct.length > 0 && {
      id: "settings",
      title: "Settings",
      note: "only those that differ",
      content: settingsTable(base),
    },
    events.length > 0 && { id: "events", title: "Events", content: eventTable(arms) },
    { id: "runs", title: "Runs", content: runsTable(arms) },
  ];
  yield* reportPage({
    kind: "runs",
    title: titleOf(arms),
    hasCurves: true,
    made: options.made,
    headlines: arms.map((arm) => headline(arm, arms.length > 1)),
    sections: sections.filter((section) => section !== false),
    viewer:
      samples.steps.length === 0
        ? null
        : {
            id: "trajectories",
            title: "Trajectories",
            note: samples.note,
            spec: RUN_SPEC,
            items: runItems(samples.steps, runs.length > 1),
          },
  });
}

/** The further evaluations that some run has, by name. */
function setNames(runs: readonly RunFiles[]): string[] {
  const names = runs.flatMap(({ sets }) => sets.map(({ name }) => parseEvaluationName(name).set));
  return [...new Set(names)].filter((name) => name !== null);
}

/** EM after training and its change, large. */
function answers(heldOut: Awaited<ReturnType<typeof heldOutComparison>>): HeadlineFigure[] {
  const [em] = heldOut;
  const format = fixed(3);
  return (em?.figures ?? []).map(({ arm, runs, before, after, change }) => ({
    series: arm.series,
    name: heldOut[0]?.figures.length === 1 ? null : arm.name,
    format,
    value: after,
    label: `${metricLabel(em?.metric ?? "em")} after training`,
    details: [
      [
        `before ${orAbsent(before, format)}`,
        change !== null &&
          typeof change !== "string" && [
            ", change ",
            tag("b", {}, signed(3)(change.difference)),
            small(formatInterval(change.ci95, signed(3))),
          ],
      ],
      plural(runs, "run"),
    ],
  }));
}

function figures(parts: readonly RunPart[]): Content {
  return parts.map((part) => {
    const found = lastFigures(part);
    const of = part.stage === null ? "" : ` of stage ${part.stage}`;
    if (found.length === 0) return null;
    const heading = tag("h3", {}, `Mean of the ${lastStepsText(found)}${of}`);
    return [heading, lastStepsTable(found)];
  });
}

function titleOf(arms: readonly Arm[]): string {
  const recipes = new Set(
    arms.flatMap(({ runs }) =>
      runs.map(({ manifest, folder }) => manifest.recipe ?? basename(folder)),
    ),
  );
  return [...recipes].join(", ");
}

function headline(arm: Arm, isNamed: boolean): Markup {
  const { runs } = arm;
  const seeds = runs.map(({ settings }) => settings?.values.get("seed") ?? "–");
  const [first] = runs;
  const done = [...new Set(runs.map(({ steps }) => steps.done))].sort((a, b) => a - b);
  const states = [...new Set(runs.map(({ state }) => state.state))];
  const facts = [
    ...(first?.manifest.tier === undefined ? [] : [`tier ${first.manifest.tier}`]),
    `${seeds.length === 1 ? "seed" : "seeds"} ${seeds.map(String).join(", ")}`,
    ...(first?.kind === "staged"
      ? [`${first.stages.length} stages`]
      : [`${done.map(formatCount).join("–")} steps`]),
    states.join(", "),
  ];
  return html`<p class="headline">
    ${isNamed && html`<b>${seriesLabel(arm.series, arm.name)}</b> `}${facts.join(" · ")}
  </p>`;
}

/** The sample of every run's trajectories, and a sentence on its size. */
async function sampledSteps(
  parts: readonly RunPart[],
  { readingOf, trajectories: { perStep, characters } }: RunPageOptions,
): Promise<{ steps: SampledStep[]; note: string }> {
  const drawn = parts.flatMap(({ stage, arms }) =>
    arms.flatMap(({ runs }) => runs.map((run) => ({ stage, run }))),
  );
  const share = characters / Math.max(drawn.length, 1);
  const steps: SampledStep[] = [];
  let [taken, there] = [0, 0];
  for (const { stage, run } of drawn) {
    const sample = await sampleTrajectories(
      { folder: run.files.folder, rolledBack: run.rolledBack },
      { perStep, characters: share },
    );
    taken += sample.steps.length;
    there += sample.stepsThere;
    if (sample.steps.length === 0) continue;
    const reading = await readingOf(run.files);
    for (const own of sample.steps) steps.push({ run: run.name, stage, ...own, reading });
  }
  const left = taken === there ? `all ${there} steps` : `${taken} of ${there} steps`;
  const rule = `of ${left} with trajectories, at most ${perStep} each: questions chosen by hash, each with its highest and its lowest reward`;
  return { steps, note: rule };
}

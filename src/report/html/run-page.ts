import { basename } from "node:path";
import { armsOf, type Arm } from "../runs/arms.ts";
import { heldOutComparison } from "../runs/held-out-comparison.ts";
import { LAST_STEPS, lastFigures } from "../runs/last-steps.ts";
import { partsOf, type RunPart } from "../runs/run-parts.ts";
import type { RunFiles } from "../runs/run-files.ts";
import { sampleTrajectories, type TrajectoryBounds } from "../runs/run-trajectories.ts";
import { embedded, viewerFrame } from "../viewer/embed.ts";
import { RUN_SPEC, runItems, type RunReading, type SampledStep } from "../viewer/run-items.ts";
import { armLabel } from "./arm-label.ts";
import { browserScript } from "./browser-script.ts";
import { html, type Markup } from "./markup.ts";
import { page } from "./page.ts";
import { curveControls, curveNote, curvePart } from "./run-curves.ts";
import { RUN_STYLE } from "./run-style.ts";
import { heldOutTable, lastStepsTable } from "./run-figure-tables.ts";
import { settingsTable } from "./run-settings-table.ts";
import { eventTable, runsTable } from "./run-tables.ts";

/** What a page of runs is made of. */
export interface RunPageOptions {
  /** What trajectories of a run (or of a stage of one) are read with. */
  readingOf: (run: RunFiles) => Promise<RunReading>;
  /** Of all runs together: each has the same share of `characters`. */
  trajectories: TrajectoryBounds;
}

/**
 * The report of runs as one self-contained page, in pieces: curves with a band over the seeds of an arm, final figures, settings that
 * differ, events, and a sample of trajectories by step. Nothing is written; a run under way is shown as far as it is.
 *
 * @param runs at least one, no folder twice.
 * @throws {DataError} FILE_MISSING when the package was not built.
 */
export async function* runPage(
  runs: readonly RunFiles[],
  options: RunPageOptions,
): AsyncGenerator<string> {
  const base = armsOf(runs);
  const parts = await partsOf(base.arms);
  const samples = await sampledSteps(parts, options);
  const hasTrajectories = samples.steps.length > 0;
  const script = await browserScript(["curves", ...(hasTrajectories ? (["viewer"] as const) : [])]);
  const title = titleOf(base.arms);
  const frame = { title: `Runs: ${title}`, script, style: RUN_STYLE };
  yield* page(frame, bodyOf({ base, parts, samples, title }));
}

interface PageContent {
  base: ReturnType<typeof armsOf>;
  parts: RunPart[];
  samples: { steps: SampledStep[]; note: string };
  title: string;
}

async function* bodyOf({ base, parts, samples, title }: PageContent): AsyncGenerator<string> {
  const { arms, differences, conduct } = base;
  const isSame = differences.length + conduct.length === 0;
  const runs = arms.flatMap((arm) => arm.runs);
  const heldOut = await heldOutComparison(arms);
  const lasts = parts.map((part) => ({ part, figures: lastFigures(part) }));
  const events = runs.flatMap((run) => [run, ...run.stages].flatMap((own) => own.events));
  const hasTrajectories = samples.steps.length > 0;
  const sections: Section[] = [
    {
      id: "curves",
      title: "Curves",
      note: "by step",
      content: [
        curveControls(parts),
        ...parts.flatMap((part, i) => curvePart(part, i)),
        html`<p class="note">${curveNote(parts)}</p>`,
      ],
    },
    {
      id: "figures",
      title: "Figures",
      note: null,
      content: [
        ...(heldOut.length === 0 ? [] : [html`<h3>Held-out questions</h3>`, heldOutTable(heldOut)]),
        ...lasts.flatMap(({ part, figures }) =>
          figures.length === 0
            ? []
            : [
                html`<h3>
                  Training, mean of the last ${LAST_STEPS}
                  steps${part.stage !== null && ` of stage ${part.stage}`}
                </h3>`,
                lastStepsTable(figures),
              ],
        ),
      ],
    },
    ...(isSame
      ? []
      : [
          {
            id: "settings",
            title: "Settings",
            note: "those that differ, and no others",
            content: [settingsTable(base)],
          },
        ]),
    ...(events.length > 0
      ? [{ id: "events", title: "Events", note: null, content: [eventTable(arms)] }]
      : []),
    { id: "runs", title: "Runs", note: null, content: [runsTable(arms)] },
    ...(hasTrajectories
      ? [
          {
            id: "trajectories",
            title: "Trajectories",
            note: samples.note,
            content: [viewerFrame(RUN_SPEC)],
          },
        ]
      : []),
  ];
  yield html`<a class="skip" href="#figures">To the figures</a>
    <header class="top">
      <div class="inner">
        <p class="kicker">agentrl runs</p>
        <h1>${title}</h1>
        ${arms.map((arm) => headline(arm, arms.length > 1))}
      </div>
    </header>
    <nav class="sections" aria-label="Sections">
      <div class="inner">
        ${sections.map(({ id, title: name }) => html`<a href="#${id}">${name}</a>`)}
      </div>
    </nav> `.text;
  yield "<main>\n";
  for (const each of sections) yield section(each);
  yield "</main>\n";
  if (hasTrajectories) yield* embedded(RUN_SPEC, runItems(each(samples.steps), runs.length > 1));
}

interface Section {
  id: string;
  title: string;
  note: string | null;
  content: readonly Markup[];
}

function section({ id, title, note, content }: Section): string {
  return html`<section id="${id}" class="part-${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}${note !== null && html` <span>${note}</span>`}</h2>
    ${content}
  </section> `.text;
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
      : [`${done.map((steps) => steps.toLocaleString("en")).join("–")} steps`]),
    states.join(", "),
  ];
  return html`<p class="headline">
    ${isNamed && html`<b>${armLabel(arm, arm.name)}</b> `}${facts.join(" · ")}
  </p>`;
}

/** The sample of every run's trajectories, and what was left out, in words. */
async function sampledSteps(
  parts: readonly RunPart[],
  { readingOf, trajectories: { perStep, characters } }: RunPageOptions,
): Promise<PageContent["samples"]> {
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
  const note = `of ${left} that are kept, at most ${perStep} each: the questions of smallest hash, of each the highest and the lowest reward`;
  return { steps, note };
}

async function* each<T>(values: readonly T[]): AsyncGenerator<T> {
  for (const value of values) yield await Promise.resolve(value);
}

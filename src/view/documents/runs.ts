import { basename } from "node:path";
import {
  ABSENT,
  formatCount,
  formatDifference,
  formatInterval,
  formatScore,
  orAbsent,
  plural,
  shortNumber,
  shorten,
  withPlus,
} from "../../base/format.ts";
import { metricLabel } from "../../evaluate/metrics/metric-columns.ts";
import { parseEvaluationName } from "../../evaluate/policy-label.ts";
import { disagreementNotes } from "../../evaluate/statistics.ts";
import type { ArmComparison } from "../../experiment/arm-comparison.ts";
import { SEVERAL } from "../../run/folder/run-file.ts";
import {
  type Block,
  type Column,
  type Document,
  type Figure,
  type Inline,
  type Table,
  code,
  heading,
  named,
  note,
  small,
  strong,
  table,
} from "../document.ts";
import { type Arm, type ArmComparisonBase, type EffectOf, armsOf } from "../runs/arms.ts";
import { type HeldOutFigure, heldOutComparison } from "../runs/held-out-comparison.ts";
import { type LastFigure, lastFigures, lastStepsText } from "../runs/last-steps.ts";
import type { RunFiles } from "../runs/run-files.ts";
import { type RunPart, partsOf, runLabel, runName } from "../runs/run-parts.ts";
import { type TrajectoryBounds, sampleTrajectories } from "../runs/run-trajectories.ts";
import { RUN_SPEC, type RunReading, type SampledStep, runItems } from "../viewer/run-items.ts";
import { stepsText } from "./run-detail.ts";
import { PAIRED_NOTE, differenceCells, differenceColumns } from "./scores.ts";

/** Options of a report of runs. */
export interface RunsOptions {
  /** Which settings make runs comparable. */
  effectOf: EffectOf;
  /** Tokenizer and questions for the trajectories of a run or stage. */
  readingOf: (run: RunFiles) => Promise<RunReading>;
  /** Bounds of all runs together: each has the same share of `characters`. */
  trajectories: TrajectoryBounds;
}

/**
 * The report of runs: curves with a band over the seeds of an arm, final figures, settings that differ, events, and a sample of
 * trajectories by step. Nothing is written; an unfinished run is shown as far as it is.
 *
 * @param runs at least one, no folder twice.
 */
export async function runsDocument(
  runs: readonly RunFiles[],
  options: RunsOptions,
): Promise<Document> {
  const base = armsOf(runs, options.effectOf);
  const { arms, differences, conduct } = base;
  const parts = await partsOf(arms);
  const heldOut = await heldOutComparison(arms);
  const sets = runs.flatMap((run) => run.sets.map(({ name }) => parseEvaluationName(name).set));
  const setBlocks: Block[] = [];
  for (const set of new Set(sets.filter((each) => each !== null)))
    setBlocks.push(
      heading(`Evaluation set ${set}`),
      ...heldOutBlocks(await heldOutComparison(arms, set)),
    );
  const samples = await sampledSteps(parts, options);
  const events = eventTables(arms);
  const sections = [
    {
      id: "held-out",
      title: "Held-out questions",
      blocks:
        heldOut.length === 0
          ? []
          : [
              { kind: "figures" as const, figures: answers(heldOut) },
              ...[...heldOutBlocks(heldOut), ...setBlocks, note(PAIRED_NOTE)],
            ],
    },
    {
      id: "curves",
      title: "Curves",
      note: "by step",
      blocks: [{ kind: "curves" as const, parts }],
    },
    { id: "figures", title: "End of training", blocks: parts.flatMap(lastStepsBlocks) },
    {
      id: "settings",
      title: "Settings",
      note: "only those that differ",
      blocks: differences.length + conduct.length === 0 ? [] : [settingsTable(base)],
    },
    { id: "events", title: "Events", blocks: events },
    { id: "runs", title: "Runs", blocks: [runsTable(arms)] },
  ];
  const recipes = arms.flatMap((arm) =>
    arm.runs.map(({ manifest, folder }) => manifest.recipe ?? basename(folder)),
  );
  return {
    kind: "runs",
    title: [...new Set(recipes)].join(", "),
    lead: arms.map((arm) => lead(arm, arms.length > 1)),
    sections: sections.filter(({ id, blocks }) => blocks.length > 0 || id === "figures"),
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
  };
}

type HeldOut = Awaited<ReturnType<typeof heldOutComparison>>;

/** EM after training and its change, large. */
function answers([em]: HeldOut): Figure[] {
  const figures = em?.figures ?? [];
  return figures.map(({ arm, runs, before, after, change }) => ({
    series: arm.series,
    name: figures.length > 1 && named(arm.series, arm.name),
    format: formatScore,
    value: after,
    label: `${metricLabel(em?.metric ?? "em")} after training`,
    details: [
      [
        `before ${orAbsent(before, formatScore)}`,
        change !== null &&
          typeof change !== "string" && [
            ", change ",
            strong(formatDifference(change.difference)),
            small(formatInterval(change.ci95, formatDifference)),
          ],
      ],
      plural(runs, "run"),
    ],
  }));
}

/** The arms on held-out questions: before, after, the change, and compared with the first arm. */
function heldOutBlocks(found: HeldOut): Block[] {
  const several = found.some(({ figures }) => figures.length > 1);
  const first = found[0]?.figures[0]?.arm.name ?? "";
  const all = found.flatMap(({ figures }) =>
    figures.flatMap(({ change, against }) => [change, against]),
  );
  const reasons = all.filter((each) => typeof each === "string");
  const row = ({ arm, runs, before, after, change, against }: HeldOutFigure) => [
    ...[named(arm.series, arm.name), runs, before, { value: after }],
    ...[...differenceCells(change), ...(several ? differenceCells(against) : [])],
  ];
  return [
    {
      kind: "table",
      caption: "Held-out questions",
      className: "plain figures-table",
      columns: [
        "arm",
        { label: "runs", format: formatCount },
        ...["before", "after"].map((label) => ({ label, format: formatScore })),
        ...differenceColumns("change"),
        ...(several ? differenceColumns(`against ${first}`) : []),
      ],
      groups: found.map(({ metric, figures }) => ({
        title: metricLabel(metric),
        rows: figures.map(row),
      })),
    },
    ...disagreementNotes(all.filter((each) => each !== null && typeof each !== "string")).map(
      (text) => note(text),
    ),
    ...[...new Set(reasons)].map((reason) => note(strong("Not compared:"), ` ${reason}`)),
  ];
}

/** Training's own metrics over its last steps, by arm; in each cell the difference to the first arm. */
function lastStepsBlocks(part: RunPart): Block[] {
  const figures = lastFigures(part);
  if (figures.length === 0) return [];
  const arms = figures[0]?.arms.map(({ arm }) => arm) ?? [];
  const isStill = ({ arms: own }: LastFigure): boolean =>
    own.every(({ summary }) => summary === null || (summary.mean === 0 && !summary.deviation));
  const still = figures.filter(isStill).map(({ spec }) => spec.title);
  const caption = `Mean of the ${lastStepsText(figures)}${part.stage === null ? "" : ` of stage ${part.stage}`}`;
  const columns = arms.map(({ series, name }): Column => ({
    label: named(series, name),
    format: shortNumber,
  }));
  return [
    heading(caption),
    table(
      caption,
      ["metric", ...columns],
      figures
        .filter((figure) => !isStill(figure))
        .map(({ spec, arms: own }) => [
          [spec.title, spec.unit !== "" && small(spec.unit)],
          ...own.map(({ summary, against }) => {
            if (summary === null) return null;
            const { mean, deviation, n } = summary;
            const spread = deviation !== null && `± ${shortNumber(clear(deviation, mean))}, n ${n}`;
            return {
              value: mean,
              remark: [spread, against !== null && ["; ", againstText(against, mean)]],
            };
          }),
        ]),
      "plain figures-table last-steps",
    ),
    ...(still.length > 0 ? [note(`0 throughout: ${still.join(", ")}.`)] : []),
    ...(arms.length > 1
      ? [
          note(
            `Behind each mean: the difference to ${arms[0]?.name ?? ""}, with its 95 % t interval if arms have several runs.`,
          ),
        ]
      : []),
  ];
}

function againstText({ difference, ci95 }: ArmComparison, mean: number): string {
  const plus = (value: number): string => {
    const shown = clear(value, mean);
    return withPlus(shortNumber(shown), shown);
  };
  const spread = (ci95 ?? []).some((end) => clear(end, mean) !== 0);
  return plus(difference) + (ci95 !== null && spread ? ` (${formatInterval(ci95, plus)})` : "");
}

/** A difference of means; 0 if only rounding separates them. */
function clear(value: number, mean: number): number {
  return Math.abs(value) < 1e-9 * Math.abs(mean) ? 0 : value;
}

function lead(arm: Arm, isNamed: boolean): Inline {
  const { runs } = arm;
  const seeds = runs.map(({ settings }) => {
    const seed = settings?.values.get("seed");
    return typeof seed === "number" ? String(seed) : ABSENT;
  });
  const [first] = runs;
  const done = [...new Set(runs.map(({ steps }) => steps.done))].sort((a, b) => a - b);
  const facts = [
    ...(first?.manifest.tier === undefined ? [] : [`tier ${first.manifest.tier}`]),
    `${seeds.length === 1 ? "seed" : "seeds"} ${seeds.join(", ")}`,
    first?.kind === SEVERAL
      ? `${first.stages.length} stages`
      : `${done.map(formatCount).join("–")} steps`,
    [...new Set(runs.map(({ state }) => state.state))].join(", "),
  ];
  return [isNamed && [strong(named(arm.series, arm.name)), " "], facts.join(" · ")];
}

/** The sample of every run's trajectories, and a sentence on its size. */
async function sampledSteps(
  parts: readonly RunPart[],
  { readingOf, trajectories: { perStep, characters } }: RunsOptions,
): Promise<{ steps: SampledStep[]; note: string }> {
  const drawn = parts.flatMap(({ stage, arms }) =>
    arms.flatMap(({ runs }) => runs.map((run) => ({ stage, run }))),
  );
  const share = characters / Math.max(drawn.length, 1);
  const steps: SampledStep[] = [];
  let [taken, there] = [0, 0];
  for (const { stage, run } of drawn) {
    const { folder } = run.files;
    const sample = await sampleTrajectories(
      { folder, rolledBack: run.rolledBack },
      { perStep, characters: share },
    );
    taken += sample.steps.length;
    there += sample.stepsThere;
    if (sample.steps.length === 0) continue;
    const reading = await readingOf(run.files);
    for (const own of sample.steps) steps.push({ run: run.name, stage, ...own, reading });
  }
  const left = taken === there ? `all ${there} steps` : `${taken} of ${there} steps`;
  return {
    steps,
    note: `of ${left} with trajectories, at most ${perStep} each: questions chosen by hash, each with its highest and its lowest reward`,
  };
}

/** Kinds of events that every run has; they are folded. */
const ROUTINE = new Set(["lint"]);

/** The events of all runs, by time. */
function eventTables(arms: readonly Arm[]): Block[] {
  const events = arms.flatMap((arm) =>
    arm.runs.flatMap((run) =>
      [run, ...run.stages].flatMap((own) =>
        own.events.map(({ kind, step, message }) => {
          return { kind, row: [named(arm.series, runName(arm, run)), step, kind, message] };
        }),
      ),
    ),
  );
  const tableOf = (shown: typeof events): Table =>
    table(
      "Events",
      ["run", { label: "step", format: formatCount }, "what", "message"],
      shown.map(({ row }) => row),
      "plain events-table",
    );
  const routine = events.filter(({ kind }) => ROUTINE.has(kind));
  const news = events.filter((each) => !routine.includes(each));
  return [
    ...(news.length > 0 ? [tableOf(news)] : []),
    ...(routine.length > 0
      ? [
          {
            kind: "fold" as const,
            title: `${plural(routine.length, "check")} of first batches`,
            blocks: [tableOf(routine)],
          },
        ]
      : []),
  ];
}

const TONES = {
  running: "note",
  finished: "good",
  interrupted: "badge",
  failed: "trouble",
} as const;

/** The runs behind the arms: folder, state, and the machine. */
function runsTable(arms: readonly Arm[]): Block {
  const cells = (run: RunFiles): Inline[] => {
    const { folder, state, manifest, events, troubles } = run;
    const returns = events.filter((event) => event.kind === "rollback").length;
    const { device, cpu, workers } = manifest.machine;
    const made = [
      manifest.agentrl !== undefined && `agentrl ${manifest.agentrl}`,
      ...[device, cpu],
      typeof workers === "number" && plural(workers, "worker"),
    ];
    return [
      code(folder),
      stepsText(run),
      [
        { text: state.state, style: TONES[state.state] },
        state.message !== null && small(state.message),
        returns > 0 && small(`rolled back ${returns === 1 ? "once" : `${returns} times`}`),
        troubles.map((trouble): Inline => [
          " ",
          { text: `not read: ${trouble}`, style: "trouble" },
        ]),
      ],
      small(made.filter((each) => typeof each === "string").join(", ")),
    ];
  };
  return table(
    "Runs",
    ["run", "folder", { label: "steps", align: "right" }, "state", "made by"],
    arms.flatMap((arm) =>
      arm.runs.flatMap((run) => [
        [named(arm.series, runName(arm, run)), ...cells(run)],
        ...run.stages.map((stage) => ["", ...cells(stage)]),
      ]),
    ),
    "plain runs-table",
  );
}

/** Settings, versions and data that differ: first those that define the arms, then the others. */
function settingsTable({ arms, differences, conduct }: ArmComparisonBase): Block {
  const value = (text: string | undefined): Inline =>
    text === undefined ? ABSENT : code(cut(text));
  /** One value if the runs of an arm agree, else each value with its runs. */
  const ofRuns = (arm: Arm, values: readonly (string | undefined)[]): Inline => {
    const distinct = [...new Set(values)];
    if (distinct.length === 1) return value(distinct[0]);
    return distinct.map((each, i): Inline => {
      const runs = arm.runs.filter((_, at) => values[at] === each).map((run) => runLabel(arm, run));
      return [i > 0 && " ", value(each), small(runs.join(", "))];
    });
  };
  return {
    kind: "table",
    caption: "Settings that differ",
    className: "plain settings-table",
    columns: ["setting", ...arms.map(({ series, name }) => ({ label: named(series, name) }))],
    groups: [
      { rows: differences.map(({ key, values }) => [code(key), ...values.map(value)]) },
      {
        title: "Not part of the comparison: storage, alarms, reporting and numerics of runs",
        rows: conduct.map(({ key, values }) => [
          code(key),
          ...arms.map((arm, i) => ofRuns(arm, values[i] ?? [])),
        ]),
      },
    ],
  };
}

/** Shortens long values: prompts may be pages long. */
function cut(text: string): string {
  return /^[0-9a-f]{40,}$/.test(text) ? `${text.slice(0, 12)}…` : shorten(text, 300);
}

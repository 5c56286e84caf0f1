import { ABSENT, formatCount, plural, shortNumber } from "../../base/format.ts";
import { curvePlot, type StepMark } from "../charts/curve.ts";
import { drawnGroups, type DrawnPanel } from "../runs/drawn-panels.ts";
import type { RunFiles } from "../runs/run-files.ts";
import type { DrawnRun, RunPart } from "../runs/run-parts.ts";
import type { CurveData } from "../viewer/contract.ts";
import { html, jsonScript, type Markup, seriesClass, tag } from "./markup.ts";

/** Controls of all curves: arms, smoothing, band. */
export function curveControls(part: readonly RunPart[]): Markup {
  const arms = new Map(
    part.flatMap(({ arms: own }) => own.map(({ arm }) => [arm.series, arm] as const)),
  );
  const most = Math.max(...[...arms.values()].map(({ runs }) => runs.length));
  const buttons = [...arms.values()].map(({ series, name, runs }) =>
    tag(
      "button",
      { type: "button", class: seriesClass(series), "data-toggle": series, "aria-pressed": "true" },
      tag("span", { class: "key" }),
      name,
      runs.length > 1 && html` <small>${runs.length} runs</small>`,
    ),
  );
  return html`<form class="controls" id="curve-controls" aria-label="How curves are shown">
    <span class="arm-toggles">${buttons}</span>
    <span class="choices">
      <label><input type="checkbox" name="smooth" checked /> smooth</label>
      ${
        most > 1 &&
        html`<span role="group" aria-label="Band"
          ><label><input type="radio" name="band" value="range" checked /> min–max</label>${
            most > 2 &&
            html`<label><input type="radio" name="band" value="t95" /> 95 % of the mean</label>`
          }<label><input type="radio" name="band" value="none" /> no band</label></span
        >`
      }
    </span>
  </form> `;
}

/** The legend in words. */
export function curveNote(parts: readonly RunPart[]): string {
  const arms = parts.flatMap((part) => part.arms);
  const several = Math.max(...arms.map(({ runs }) => runs.length)) > 1;
  const returned = arms.some(({ runs }) => runs.some(({ rolledBack }) => rolledBack.length > 0));
  return [
    several
      ? "Lines are means over the runs of an arm, which differ in the seed only; the runs themselves are faint. The band shows the smallest to the largest run, or the 95 % t interval of the mean; the legend gives the number of runs."
      : "The measured values are faint, the smoothed ones strong.",
    "Curves with 20 values or more are smoothed by a Gaussian of 2 % of the steps, to both sides.",
    "Dots are held-out evaluations, whiskers 95 % over questions, or min–max if an arm has several runs.",
    ...(arms.some(({ runs }) => hasSeedTwice(runs))
      ? [
          "Some runs of an arm have the same seed: their band is narrower than a band over different seeds.",
        ]
      : []),
    ...(returned
      ? [
          "An arrow along the axis is a rollback: it points to the checkpoint that the run returned to. Rolled-back curves are dotted, their evaluations are hollow.",
        ]
      : []),
  ].join(" ");
}

function hasSeedTwice(runs: readonly DrawnRun[]): boolean {
  const seeds = runs.map(({ files }) => files.settings?.values.get("seed"));
  return new Set(seeds).size < seeds.length;
}

/** A part's panels, with data for its script. */
export function curvePart(part: RunPart, index: number): Markup[] {
  const groups = drawnGroups(part);
  const steps = stepRange(part);
  const marks = marksOf(part);
  const panels = groups.flatMap((group) => group.panels).filter((panel) => !isStill(panel));
  const data = curveData(part, panels, { steps, marks });
  const sections = groups.map(({ title, panels: own }) => {
    const still = own.filter(isStill);
    const moving = own.filter((panel) => !still.includes(panel));
    const figures = html`<div class="curves">
        ${moving.map((panel) => panelFigure(panel, part, { steps, marks }))}
      </div>
      ${still.length > 0 && tag("p", { class: "note" }, `0 throughout: ${still.map(({ spec }) => spec.title).join(", ")}.`)}`;
    return title === "Further metrics"
      ? html`<details class="further">
          <summary>${plural(own.length, "further metric")}</summary>
          ${figures}
        </details>`
      : html`<h3>${title}</h3>
          ${figures}`;
  });
  const body = html`<div class="curve-part" data-part="${index}">
    ${part.stage !== null && html`<h3 class="stage">Stage ${part.stage}</h3>`}
    ${groups.length === 0 && tag("p", { class: "note" }, "No step is done yet.")}
    ${
      groups.length > 0 &&
      html`<label class="stepper"
        ><span>step</span
        ><input
          type="range"
          min="${steps[0]}"
          max="${steps[1]}"
          value="${steps[1]}"
          step="1"
        /><output>${formatCount(steps[1])}</output></label
      >`
    }
    ${sections}
  </div> `;
  return [body, jsonScript(`curve-data-${index}`, data)];
}

/** Whether all values of a panel are 0: it is named in a note, not drawn. */
function isStill({ curves }: DrawnPanel): boolean {
  return curves.every(
    ({ runs, rolledBack, points }) =>
      points.length === 0 &&
      [...runs, ...rolledBack].every((own) => own.every(({ value }) => value === 0)),
  );
}

function panelFigure(
  { spec, axis, curves, values }: DrawnPanel,
  part: RunPart,
  frame: { steps: CurveData["steps"]; marks: readonly StepMark[] },
): Markup {
  const { title, unit, heldOut } = spec;
  const points = curves.some((curve) => curve.points.length > 0);
  const unitText = points && heldOut !== undefined ? `line: ${unit}; dots: held-out` : unit;
  const readouts = part.arms.map(({ arm }, i) => {
    const last = values[i]?.at(-1);
    const attributes = { class: seriesClass(arm.series), "data-arm": arm.series, title: arm.name };
    return tag("span", attributes, last === undefined ? ABSENT : shortNumber(last.value));
  });
  return html`<figure class="curve">
    <figcaption><b>${title}</b>${unitText !== "" && html` <span>${unitText}</span>`}</figcaption>
    <p class="readout">${readouts}</p>
    ${curvePlot(curves, frame.marks, { steps: frame.steps, axis })}
  </figure>`;
}

/** From the first measured step to the last, including rolled-back steps and evaluations. */
function stepRange({ arms }: RunPart): [first: number, last: number] {
  const steps = arms.flatMap(({ runs }) =>
    runs.flatMap(({ files, rolledBack }) => [
      ...files.metrics.map(({ step }) => step),
      ...rolledBack.flatMap(({ metrics }) => metrics.map(({ step }) => step)),
      ...files.evaluations.map(({ step }) => step),
      ...drawnEvents(files).map(({ step }) => step),
    ]),
  );
  const range = steps.reduce<[number, number]>(
    ([first, last], step) => [Math.min(first, step), Math.max(last, step)],
    [Infinity, -Infinity],
  );
  return steps.length === 0 ? [0, 1] : range;
}

/** Kinds of events without a mark on the curves: those about settings and the first batch are only in the table. */
const UNDRAWN = new Set(["budgets", "lint", "reporter"]);

function drawnEvents({ events }: RunFiles): RunFiles["events"] {
  return events.filter(({ kind }) => !UNDRAWN.has(kind));
}

function marksOf({ arms }: RunPart): StepMark[] {
  const several = arms.reduce((sum, { runs }) => sum + runs.length, 0) > 1;
  return arms.flatMap(({ runs }) =>
    runs.flatMap(({ name, files }) =>
      drawnEvents(files).map(({ step, kind, message, facts }) => ({
        step,
        kind,
        to: kind === "rollback" && typeof facts["to"] === "number" ? facts["to"] : undefined,
        title: `${kind}, step ${step}${several ? `, ${name}` : ""}: ${message}`,
      })),
    ),
  );
}

function curveData(
  { arms }: RunPart,
  panels: readonly DrawnPanel[],
  { steps, marks }: { steps: CurveData["steps"]; marks: readonly StepMark[] },
): CurveData {
  const grids = new Map<string, { at: number; steps: number[] }>();
  const packed = panels.map(({ values }) =>
    values.map((own): [number, number[]] => {
      const ownSteps = own.map(({ step }) => step);
      const key = ownSteps.join();
      const grid = grids.get(key) ?? { at: grids.size, steps: ownSteps };
      grids.set(key, grid);
      return [grid.at, own.map(({ value }) => Number(value.toPrecision(4)))];
    }),
  );
  return {
    steps,
    grids: [...grids.values()].map((grid) => grid.steps),
    panels: packed,
    arms: arms.map(({ arm }) => arm.series),
    // A rollback has a mark at both of its ends.
    marks: marks.flatMap(({ step, to, title: text }) => [
      { step, text },
      ...(to === undefined ? [] : [{ step: to, text }]),
    ]),
  };
}

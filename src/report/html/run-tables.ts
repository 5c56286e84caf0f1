import type { ArmComparison } from "../../evaluate/arm-comparison.ts";
import { type ArmComparisonBase, type Arm } from "../runs/arms.ts";
import type { HeldOutFigure, PairedDifference } from "../runs/held-out-comparison.ts";
import { LAST_STEPS, type LastFigure } from "../runs/last-steps.ts";
import { runName } from "../runs/run-parts.ts";
import type { RunFiles } from "../runs/run-files.ts";
import { metricLabel, shownNumber } from "../metric-names.ts";
import { shortNumber } from "../short-number.ts";
import { type Content, html, type Markup } from "./markup.ts";

/** What arms came to on held-out questions: before, after, the change, and against the first arm. */
export function heldOutTable(
  found: readonly { metric: "em" | "f1"; figures: readonly HeldOutFigure[] }[],
): Markup {
  const several = found.some(({ figures }) => figures.length > 1);
  const [first] = found[0]?.figures ?? [];
  const reasons = new Set(
    found.flatMap(({ figures }) =>
      figures.flatMap(({ change, against }) =>
        [change, against].filter((each) => typeof each === "string"),
      ),
    ),
  );
  return html`<div class="card">
      <div class="wide">
        <table class="plain figures-table">
          <caption class="unseen">
            Held-out questions
          </caption>
          <thead>
            <tr>
              <th scope="col">metric</th>
              <th scope="col">arm</th>
              <th scope="col" class="number">runs</th>
              <th scope="col" class="number">before</th>
              <th scope="col" class="number">after</th>
              <th scope="col" class="number">change</th>
              ${several && html`<th scope="col" class="number">against ${first?.arm.name ?? ""}</th>`}
            </tr>
          </thead>
          ${found.map(
            ({ metric, figures }) =>
              html`<tbody>
                ${figures.map(
                  (figure, i) =>
                    html`<tr>
                      ${i === 0 && html`<th scope="rowgroup" rowspan="${figures.length}">${metricLabel(metric)}</th>`}
                      <th scope="row">${armLabel(figure.arm)}</th>
                      <td class="number">${figure.runs}</td>
                      <td class="number">${shownNumber(figure.before, "share")}</td>
                      <td class="number"><b>${shownNumber(figure.after, "share")}</b></td>
                      <td class="number">${differenceText(figure.change)}</td>
                      ${several && html`<td class="number">${i === 0 ? "–" : differenceText(figure.against)}</td>`}
                    </tr>`,
                )}
              </tbody>`,
          )}
        </table>
      </div>
    </div>
    <p class="note">
      Differences are paired by question, with 95 % bootstrap intervals (over questions, and runs
      where an arm has several) and p of a permutation test after Holm’s correction.
    </p>
    ${[...reasons].map((reason) => html`<p class="note"><b>Not compared:</b> ${reason}</p>`)}`;
}

function armLabel({ name, series }: Arm): Markup {
  return html`<span class="key s${series % 6}"></span>${name}`;
}

function signed(value: number): string {
  return `${value > 0 ? "+" : value < 0 ? "−" : "±"}${Math.abs(value).toFixed(3)}`;
}

function differenceText(found: PairedDifference | string | null): Content {
  if (found === null) return "–";
  if (typeof found === "string") return "not compared";
  const { difference, ci95, p, verdict } = found;
  const tone = verdict === "higher" ? "right" : verdict === "lower" ? "wrong" : "";
  return html`<b class="${tone}">${signed(difference)}</b>
    <small
      >${signed(ci95[0])} to ${signed(ci95[1])}, p
      ${p < 0.001 ? "< .001" : p.toFixed(3).replace(/^0/, "")}</small
    >`;
}

/** Training's own metrics over its last steps, by arm. */
export function lastStepsTable(figures: readonly LastFigure[]): Markup {
  const arms = figures[0]?.arms.map(({ arm }) => arm) ?? [];
  const [first] = arms;
  return html`<div class="card">
    <div class="wide">
      <table class="plain figures-table">
        <caption class="unseen">
          Means of the last ${LAST_STEPS} steps
        </caption>
        <thead>
          <tr>
            <th scope="col">metric</th>
            ${arms.map((arm) => html`<th scope="col" class="number">${armLabel(arm)}</th>`)}
            ${arms
              .slice(1)
              .map(
                (arm) =>
                  html`<th scope="col" class="number">
                    ${armLabel(arm)} <small>against ${first?.name ?? ""}</small>
                  </th>`,
              )}
          </tr>
        </thead>
        <tbody>
          ${figures.map(
            ({ spec, arms: own }) =>
              html`<tr>
                <th scope="row">
                  ${spec.title}${spec.unit !== "" && html` <small>${spec.unit}</small>`}
                </th>
                ${own.map(({ summary }) => html`<td class="number">${summaryText(summary)}</td>`)}
                ${own.slice(1).map(({ against }) => html`<td class="number">${againstText(against)}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </div>`;
}

function summaryText(summary: LastFigure["arms"][number]["summary"]): Content {
  if (summary === null) return "–";
  const { mean, deviation, n } = summary;
  return html`<b>${shortNumber(mean)}</b
    >${deviation !== null && html` <small>± ${shortNumber(deviation)}, n ${n}</small>`}`;
}

function againstText(found: ArmComparison | null): Content {
  if (found === null) return "–";
  const plus = (value: number): string => `${value > 0 ? "+" : ""}${shortNumber(value)}`;
  const { difference, ci95 } = found;
  return html`${plus(difference)}${ci95 !== null && html` <small>${plus(ci95[0])} to ${plus(ci95[1])}</small>`}`;
}

/** Settings, versions and data that arms differ in, and only those. */
export function settingsTable({ arms, differences }: ArmComparisonBase): Markup {
  return html`<div class="card">
    <div class="wide">
      <table class="plain settings-table">
        <caption class="unseen">
          Settings that differ
        </caption>
        <thead>
          <tr>
            <th scope="col">setting</th>
            ${arms.map((arm) => html`<th scope="col">${armLabel(arm)}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${differences.map(
            ({ key, values }) =>
              html`<tr>
                <th scope="row"><code>${key}</code></th>
                ${values.map((value) => html`<td>${value === undefined ? "–" : html`<code>${cut(value)}</code>`}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </div>`;
}

/** Prompts may be pages long. */
function cut(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 199)}…`;
}

/** What happened to each run, by time. */
export function eventTable(arms: readonly Arm[]): Markup {
  const events = arms.flatMap((arm) =>
    arm.runs.flatMap((run) =>
      [run, ...run.stages].flatMap((own) =>
        own.events.map((event) => ({ arm, run: runName(arm, run), event })),
      ),
    ),
  );
  return html`<div class="card">
    <div class="wide">
      <table class="plain events-table">
        <caption class="unseen">
          Events
        </caption>
        <thead>
          <tr>
            <th scope="col">run</th>
            <th scope="col" class="number">step</th>
            <th scope="col">what</th>
            <th scope="col">message</th>
          </tr>
        </thead>
        <tbody>
          ${events.map(
            ({ arm, run, event }) =>
              html`<tr>
                <th scope="row"><span class="key s${arm.series % 6}"></span>${run}</th>
                <td class="number">${event.step.toLocaleString("en")}</td>
                <td>${event.kind}</td>
                <td>${event.message}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </div>`;
}

/** The runs behind the arms: where they lie, how they stand, what they ran on. */
export function runsTable(arms: readonly Arm[]): Markup {
  return html`<div class="card">
    <div class="wide">
      <table class="plain runs-table">
        <caption class="unseen">
          Runs
        </caption>
        <thead>
          <tr>
            <th scope="col">run</th>
            <th scope="col">folder</th>
            <th scope="col" class="number">steps</th>
            <th scope="col">state</th>
            <th scope="col">made by</th>
          </tr>
        </thead>
        <tbody>
          ${arms.flatMap((arm) =>
            arm.runs.flatMap((run) => [
              runRow(arm, run, runName(arm, run)),
              ...run.stages.map((stage) => runRow(arm, stage, "")),
            ]),
          )}
        </tbody>
      </table>
    </div>
  </div>`;
}

function runRow(
  arm: Arm,
  { folder, steps, state, manifest, kind, troubles }: RunFiles,
  name: string,
): Markup {
  const { done, planned } = steps;
  const count = kind === "synth" || kind === "staged" ? "–" : done.toLocaleString("en");
  const { device, cpu } = manifest.machine;
  const made = [
    ...(manifest.agentrl === undefined ? [] : [`agentrl ${manifest.agentrl}`]),
    ...[device, cpu].filter((each) => typeof each === "string"),
  ];
  return html`<tr>
    <th scope="row">${name !== "" && html`<span class="key s${arm.series % 6}"></span>${name}`}</th>
    <td><code>${folder}</code></td>
    <td class="number">
      ${count}${planned !== null && html` <small>of ${planned.toLocaleString("en")}</small>`}
    </td>
    <td>
      <span class="badge ${stateTone(state.state)}">${state.state}</span
      >${state.message !== null && html` <small>${state.message}</small>`}
      ${troubles.map((trouble) => html`<small class="trouble">not read: ${trouble}</small>`)}
    </td>
    <td><small>${made.join(", ")}</small></td>
  </tr>`;
}

function stateTone(state: RunFiles["state"]["state"]): string {
  return { running: "partly", finished: "right", interrupted: "", failed: "failed" }[state];
}

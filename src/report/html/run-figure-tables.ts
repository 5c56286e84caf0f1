import type { ArmComparison } from "../../evaluate/arm-comparison.ts";
import { metricLabel, shownNumber } from "../metric-names.ts";
import type { HeldOutFigure, PairedDifference } from "../runs/held-out-comparison.ts";
import { LAST_STEPS, type LastFigure } from "../runs/last-steps.ts";
import { shortNumber } from "../short-number.ts";
import { armLabel } from "./arm-label.ts";
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
                <tr class="group">
                  <th colspan="${several ? 6 : 5}" scope="rowgroup">
                    <span>${metricLabel(metric)}</span>
                  </th>
                </tr>
                ${figures.map(
                  (figure, i) =>
                    html`<tr>
                      <th scope="row">${armLabel(figure.arm, figure.arm.name)}</th>
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

/** Training's own metrics over its last steps, by arm; under each what it is more than the first arm. */
export function lastStepsTable(figures: readonly LastFigure[]): Markup {
  const arms = figures[0]?.arms.map(({ arm }) => arm) ?? [];
  const [first] = arms;
  const still = figures.filter(({ arms: own }) =>
    own.every(({ summary }) => summary === null || (summary.mean === 0 && !summary.deviation)),
  );
  const told = figures.filter((figure) => !still.includes(figure));
  return html`<div class="card">
      <div class="wide">
        <table class="plain figures-table last-steps">
          <caption class="unseen">
            Means of the last ${LAST_STEPS} steps
          </caption>
          <thead>
            <tr>
              <th scope="col">metric</th>
              ${arms.map((arm) => html`<th scope="col" class="number">${armLabel(arm, arm.name)}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${told.map(
              ({ spec, arms: own }) =>
                html`<tr>
                  <th scope="row">
                    ${spec.title}${spec.unit !== "" && html` <small>${spec.unit}</small>`}
                  </th>
                  ${own.map(
                    ({ summary, against }) =>
                      html`<td class="number">
                        ${summaryText(summary)}${against !== null && againstText(against, summary?.mean ?? 0)}
                      </td>`,
                  )}
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </div>
    ${still.length > 0 && html`<p class="note">0 throughout: ${still.map(({ spec }) => spec.title).join(", ")}.</p>`}
    ${
      arms.length > 1 &&
      html`<p class="note">
        Under each mean: the difference to ${first?.name ?? ""}, with its 95 % t interval where arms
        have several runs.
      </p>`
    }`;
}

function summaryText(summary: LastFigure["arms"][number]["summary"]): Content {
  if (summary === null) return "–";
  const { mean, deviation, n } = summary;
  return html`<b>${shortNumber(mean)}</b
    >${deviation !== null && html` <small>± ${shortNumber(clear(deviation, mean))}, n ${n}</small>`}`;
}

function againstText({ difference, ci95 }: ArmComparison, mean: number): Content {
  const plus = (value: number): string => {
    const told = clear(value, mean);
    return `${told > 0 ? "+" : told === 0 ? "±" : ""}${shortNumber(told)}`;
  };
  const spread = (ci95 ?? []).some((end) => clear(end, mean) !== 0);
  return html`<small class="against"
    >${plus(difference)}${ci95 !== null && spread && ` (${plus(ci95[0])} to ${plus(ci95[1])})`}</small
  >`;
}

/** A difference of means, or 0 for what rounding alone leaves of equal ones. */
function clear(value: number, mean: number): number {
  return Math.abs(value) < 1e-9 * Math.abs(mean) ? 0 : value;
}

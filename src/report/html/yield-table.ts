import { yieldBar } from "../charts/yield-bar.ts";
import type { Synthesis } from "../synthesis-files.ts";
import { html, type Markup } from "./markup.ts";
import { percentText } from "./search-panels.ts";

type Step = Synthesis["yields"][number];

/** What each step let through: a bar per step against all that was drawn, and why the others were left out. */
export function yieldTable({ yields, failures }: Synthesis): Markup {
  const drawn = Math.max(1, ...yields.map((step) => step.in));
  return html`<div class="card">
      <div class="wide">
        <table class="panel yields">
          <caption class="unseen">
            Samples by step
          </caption>
          <thead>
            <tr>
              <th scope="col">step</th>
              <th scope="col">samples</th>
              <th scope="col" class="number">in</th>
              <th scope="col" class="number">out</th>
              <th scope="col" class="number">questions</th>
              <th scope="col" class="reasons">left out, mended</th>
            </tr>
          </thead>
          <tbody>
            ${yields.map((step) => stepRow(step, drawn))}
          </tbody>
        </table>
      </div>
    </div>
    ${failureNote(failures)}`;
}

function stepRow(step: Step, drawn: number): Markup {
  const shares = { in: step.in / drawn, out: step.out / drawn };
  return html`<tr>
    <th scope="row">
      ${step.name}${step.kind !== step.name && html` <small>${step.kind}</small>`}
    </th>
    <td class="chart">${yieldBar(shares, 0)}</td>
    <td class="number">${count(step.in)}</td>
    <td class="number">
      <b>${count(step.out)}</b>
      <small>${percentText(step.in === 0 ? 0 : step.out / step.in)}</small>
    </td>
    <td class="number">${count(step.questions)}</td>
    <td class="reasons">${reasons(step)}</td>
  </tr>`;
}

function reasons({ dropped, mended, pairs }: Step): Markup | null {
  const why = Object.entries(dropped).sort(([, a], [, b]) => b - a);
  if (why.length === 0 && mended === 0 && pairs === 0) return null;
  return html`<ul>
    ${why.map(([reason, number]) => html`<li><b>${count(number)}</b> ${reason}</li>`)}${
      mended > 0 && html`<li class="kept"><b>${count(mended)}</b> mended</li>`
    }${pairs > 0 && html`<li class="kept"><b>${count(pairs)}</b> pairs made</li>`}
  </ul>`;
}

function failureNote(failures: Readonly<Record<string, number>>): Markup | null {
  const codes = Object.entries(failures).sort(([, a], [, b]) => b - a);
  if (codes.length === 0) return null;
  return html`<p class="note">
    Failed while drawing, no sample:
    ${codes.map(([code, number], i) => html`${i > 0 && ", "}<b>${count(number)}</b> <code>${code}</code>`)}
  </p>`;
}

function count(value: number): string {
  return value.toLocaleString("en");
}

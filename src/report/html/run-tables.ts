import type { Arm } from "../runs/arms.ts";
import type { RunFiles } from "../runs/run-files.ts";
import { runName } from "../runs/run-parts.ts";
import { armLabel } from "./arm-label.ts";
import { html, type Markup } from "./markup.ts";

/** What is said of every run that is well: it is there to be looked up. */
const ROUTINE = new Set(["lint"]);

/** What happened to each run, by time. */
export function eventTable(arms: readonly Arm[]): Markup {
  const events = arms.flatMap((arm) =>
    arm.runs.flatMap((run) =>
      [run, ...run.stages].flatMap((own) =>
        own.events.map((event) => ({ arm, run: runName(arm, run), event })),
      ),
    ),
  );
  const [routine, news] = [true, false].map((is) =>
    events.filter(({ event }) => ROUTINE.has(event.kind) === is),
  ) as [typeof events, typeof events];
  return html`${news.length > 0 && eventRows(news)}
  ${
    routine.length > 0 &&
    html`<details class="further">
      <summary>
        ${routine.length} ${routine.length === 1 ? "check" : "checks"} of first batches
      </summary>
      ${eventRows(routine)}
    </details>`
  }`;
}

function eventRows(
  events: readonly { arm: Arm; run: string; event: RunFiles["events"][number] }[],
): Markup {
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
                <th scope="row">${armLabel(arm, run)}</th>
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
  { folder, steps, state, manifest, kind, events, troubles }: RunFiles,
  name: string,
): Markup {
  const { done, planned } = steps;
  const count = kind === "synth" || kind === "staged" ? "–" : done.toLocaleString("en");
  const returns = events.filter((event) => event.kind === "rollback").length;
  const { device, cpu, workers } = manifest.machine;
  const made = [
    ...(manifest.agentrl === undefined ? [] : [`agentrl ${manifest.agentrl}`]),
    ...[device, cpu].filter((each) => typeof each === "string"),
    ...(typeof workers === "number" ? [`${workers} ${workers === 1 ? "worker" : "workers"}`] : []),
  ];
  return html`<tr>
    <th scope="row">${name !== "" && armLabel(arm, name)}</th>
    <td><code>${folder}</code></td>
    <td class="number">
      ${count}${planned !== null && html` <small>of ${planned.toLocaleString("en")}</small>`}
    </td>
    <td>
      <span class="badge ${stateTone(state.state)}">${state.state}</span
      >${state.message !== null && html` <small>${state.message}</small>`}
      ${returns > 0 && html`<small>went back ${returns === 1 ? "once" : `${returns} times`}</small>`}
      ${troubles.map((trouble) => html`<small class="trouble">not read: ${trouble}</small>`)}
    </td>
    <td><small>${made.join(", ")}</small></td>
  </tr>`;
}

function stateTone(state: RunFiles["state"]["state"]): string {
  return { running: "partly", finished: "right", interrupted: "", failed: "failed" }[state];
}

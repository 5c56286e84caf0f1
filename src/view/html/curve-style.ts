/** The style of pages of runs: panels of curves, their cursor and controls, tables of figures, trajectories beside each other. */
export const CURVE_STYLE = `
.controls { position: sticky; top: 44px; z-index: 4; display: flex; flex-wrap: wrap; gap: 6px 20px; align-items: center; justify-content: space-between; padding: 8px 0; background: var(--page); font-size: 13.5px; }
.arm-toggles { display: flex; flex-wrap: wrap; gap: 6px; min-width: 0; }
.controls button { font: inherit; color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: 99px; padding: 3px 12px 3px 10px; cursor: pointer; text-align: left; overflow-wrap: anywhere; }
.controls button[aria-pressed="false"] { color: var(--soft); text-decoration: line-through; background: none; }
.controls button[aria-pressed="false"] .key { background: none; box-shadow: inset 0 0 0 2px var(--c); }
.choices, .choices > span { display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: center; color: var(--soft); }
.choices > span { padding-left: 14px; border-left: 1px solid var(--line); }
.choices label { display: inline-flex; gap: 5px; align-items: center; cursor: pointer; white-space: nowrap; }
.choices input { margin: 0; accent-color: var(--accent); }
.part-curves h3 { margin: 22px 0 8px; color: var(--soft); font-size: 13.5px; font-weight: 600; }
.part-curves h3.stage { margin-top: 28px; padding-top: 16px; border-top: 1px solid var(--line); color: var(--ink); font-size: 16px; }
.curve-part:first-of-type h3.stage { border: 0; padding-top: 0; margin-top: 8px; }
.stepper { display: flex; align-items: center; gap: 10px; margin: 6px 0 0; font-size: 13px; color: var(--soft); }
.stepper input { flex: 1; max-width: 420px; min-width: 0; accent-color: var(--accent); }
.stepper output { min-width: 4ch; color: var(--ink); font-weight: 600; }
.curves { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(270px, 100%), 1fr)); gap: 14px; }
.further { margin-top: 18px; } .further .curves { margin-top: 8px; }
.curve { padding: 10px 14px 6px; }
.curve figcaption { display: flex; flex-wrap: wrap; gap: 0 8px; align-items: baseline; min-height: 0; margin: 0; line-height: 1.35; }
.curve figcaption b { display: inline; overflow-wrap: anywhere; } .curve figcaption span { font-size: 12px; }
.readout { display: flex; flex-wrap: wrap; gap: 0 12px; margin: 0 0 4px; min-height: 22px; font-size: 14px; line-height: 22px; font-weight: 600; }
.readout span { color: var(--c); } .readout .off { display: none; }
.plot { display: grid; grid-template-columns: 38px 1fr; column-gap: 6px; margin-top: auto; }
.plot .scale { width: 100%; } .plot .area { position: relative; min-width: 0; cursor: crosshair; touch-action: pan-y; }
.plot .lines { overflow: hidden; } .plot .marks { position: absolute; inset: 0; pointer-events: none; }
.plot .marks .held-out, .plot .marks .step-mark { pointer-events: auto; }
.step-ticks { grid-column: 2; }
.lines path, .lines line { vector-effect: non-scaling-stroke; }
.lines path { fill: none; stroke: var(--c); stroke-width: 1.75; stroke-linejoin: round; stroke-linecap: round; }
.lines .band { stroke: none; fill: var(--c); fill-opacity: .16; visibility: hidden; }
.lines .member { stroke-width: 1; opacity: .28; }
.again.key, .again > .key { border-radius: 2px; } .arm.again .run, .arm.again .mean { stroke-dasharray: 7 4; } .readout .again { font-style: italic; }
.lines .rolled-back { stroke-width: 1.25; opacity: .55; stroke-dasharray: 2 4; }
.smoothing .lines .run { stroke-width: 1; opacity: .32; } .smoothing .lines .member { opacity: .22; }
.plot .lines path.alone { stroke-width: 6; }
body:not(.smoothing) .lines .smooth, .smoothing .lines .raw { display: none; }
.band-range .lines .band.range, .band-t95 .lines .band.t95 { visibility: visible; }
.arm.off { display: none; }
.marks .dot { stroke-width: 1.5; }
.held-out.taken-back { opacity: .45; } .held-out.taken-back .dot { fill: var(--card); stroke: var(--c); }
.step-mark line { stroke: var(--soft); stroke-dasharray: 1 3; } .step-mark path { fill: var(--soft); stroke: var(--card); stroke-width: 1; }
.step-mark.alarm path { fill: var(--wrong); } .step-mark.alarm line, .step-mark.rollback line { stroke: var(--wrong); } .step-mark.rollback path { fill: var(--wrong); } .step-mark line.way { stroke-width: 1.5; stroke-dasharray: none; }
.cursor { position: absolute; top: 0; bottom: -14px; width: 0; border-left: 1px solid var(--ink); pointer-events: none; visibility: hidden; opacity: .65; }
.cursor.on { visibility: visible; }
.cursor span { position: absolute; bottom: -1px; left: 0; transform: translateX(-50%); padding: 0 4px; background: var(--card); color: var(--ink); font-size: 11px; line-height: 14px; }
.tip { position: absolute; z-index: 3; left: 0; right: 0; top: calc(100% + 16px); padding: 6px 10px; border: 1px solid var(--line); border-radius: 7px; background: var(--card); box-shadow: 0 4px 16px rgb(0 0 0 / .16); font-size: 12.5px; line-height: 1.4; pointer-events: none; overflow-wrap: anywhere; }
.tip p { margin: 0; } .tip p + p { margin-top: 4px; }
.card > .wide { background: linear-gradient(to left, var(--card) 26px, transparent) right / 60px 100% no-repeat local, linear-gradient(to left, var(--edge), transparent) right / 16px 100% no-repeat scroll; --edge: rgb(0 0 0 / .16); }
@media screen and (prefers-color-scheme: dark) { .card > .wide { --edge: rgb(0 0 0 / .6); } }
.wide .figures-table, .wide .settings-table { border-collapse: separate; border-spacing: 0; }
.figures-table tr > th:first-child, .settings-table tr > th:first-child { position: sticky; left: 0; z-index: 1; background: var(--card); }
.figures-table .group th, .settings-table .group th { padding-top: 14px; color: var(--soft); font-size: 13px; font-weight: 600; }
.group th > span { position: sticky; left: 0; }
.figures-table td, .figures-table tbody th, .settings-table td, .settings-table tbody th { vertical-align: baseline; }
.figures-table th[scope="row"] { max-width: 260px; overflow-wrap: break-word; } .last-steps tr > th:first-child { min-width: 190px; }
.figures-table .number small { min-width: 0; margin-left: 6px; } .figures-table b.right { color: var(--right); } .figures-table b.wrong { color: var(--wrong); }
.figures-table .number small.against { display: block; margin: 0; line-height: 1.3; }
.figures-table thead .number { white-space: normal; overflow-wrap: anywhere; min-width: 92px; vertical-align: bottom; }
.plain tr:last-child > * { border-bottom: 0; }
.runs-table td:nth-child(2) { min-width: 200px; } .runs-table tbody th { min-width: 112px; } .events-table td:last-child { min-width: 260px; } .runs-table .trouble { display: block; color: var(--wrong); }
.runs-table .number small { min-width: 0; margin-left: 4px; } .events-table tbody th { min-width: 124px; }
.runs-table th, .events-table th { min-width: 92px; }
.detail.beside { display: grid; grid-template-columns: 1fr 1fr; gap: 0 24px; align-content: start; }
.beside .side { min-width: 0; } .beside .side + .side { border-left: 1px solid var(--line); padding-left: 24px; }
.side-name { margin: 0 0 4px; font-size: 12.5px; font-weight: 600; color: var(--accent); overflow-wrap: anywhere; }
.beside .part, .beside .found { grid-template-columns: 1fr; } .beside .owner { padding: 5px 0 0 10px; line-height: 16px; } .beside pre { padding-left: 10px; padding-top: 2px; } .beside .found ol { margin-left: 8px; }
@media (max-width: 1100px) {
  .detail.beside { grid-template-columns: 1fr; }
  .beside .side + .side { border-left: 0; padding-left: 0; margin-top: 26px; padding-top: 22px; border-top: 2px solid var(--line); }
}
@media (max-width: 760px) {
  .controls { position: static; } .choices > span { padding-left: 0; border-left: 0; }
  .curve { padding: 10px 12px 6px; }
  .plain.events-table th, .plain.events-table td { min-width: 0; padding-right: 8px; } .plain.events-table td:last-child { min-width: 180px; } .plain.events-table td:nth-child(3) { overflow-wrap: normal; }
  .plain.figures-table th, .plain.figures-table td { min-width: 0; padding-right: 12px; } .figures-table tbody th small { display: none; }
  .figures-table .number small { display: block; margin: 0; } .plain.figures-table thead .number { min-width: 64px; } .figures-table th[scope="row"] { max-width: 40vw; } .plain.last-steps tr > th:first-child { min-width: 110px; }
}
@media print { .controls, .stepper { display: none; } .curves { grid-template-columns: repeat(3, 1fr); } }
`;

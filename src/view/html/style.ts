/**
 * The style sheet of all reports. Colour-blind readers can distinguish the colours of results; their contrast to the page is at least 3:1
 * in light and dark mode, text 4.5:1. Nothing is fetched: fonts are the system's.
 */
export const BASE_STYLE = `
:root {
  --page: #fbfbfa; --card: #ffffff; --ink: #1c1e21; --soft: #5d636b; --line: #e3e4e2; --track: #eeefec;
  --accent: #1f5fbf; --right: #17703d; --wrong: #b3261e; --partly: #8a5a00; --gold: #8a5a00; --gold-back: #fff3d1;
  --s0: #2563c9; --s1: #c4540a; --s2: #16805a; --s3: #8a4fc4; --s4: #b8327a; --s5: #5b6470;
  --policy-back: #eaf1fd; --environment-back: #f3f4f2; --inserted-back: #fdeee2; --mark: #fff0b3;
  --banner: #fdecea; --banner-ink: #7d1710;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
}
/* Paper is white, whatever the screen is. */
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #15171a; --card: #1c1f23; --ink: #e8e9ea; --soft: #a2a9b2; --line: #31353b; --track: #2a2e34;
    --accent: #8ab4f8; --right: #6fcf97; --wrong: #f28b82; --partly: #f0c060; --gold: #f5cf6b; --gold-back: #3a3118;
    --s0: #79a9f5; --s1: #f0975a; --s2: #5fc79a; --s3: #bd94ea; --s4: #ef86b8; --s5: #a9b1bb;
    --policy-back: #1d2a40; --environment-back: #24272b; --inserted-back: #3b2a1c; --mark: #4d4316;
    --banner: #40191a; --banner-ink: #ffc9c4;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 56px; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; font-variant-numeric: tabular-nums; }
.inner, main { max-width: 1240px; margin: 0 auto; padding: 0 24px; }
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
code, pre, kbd { font-family: var(--mono); font-size: .9em; }
small { font-size: 12.5px; color: var(--soft); }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 8px; top: 8px; background: var(--card); padding: 6px 12px; z-index: 9; }
.top { padding: 32px 0 20px; }
.kicker { margin: 0; color: var(--soft); font-size: 12.5px; letter-spacing: .06em; text-transform: uppercase; }
h1 { margin: 2px 0 8px; font-size: 30px; line-height: 1.2; letter-spacing: -.01em; overflow-wrap: anywhere; }
.headline { margin: 2px 0; color: var(--soft); overflow-wrap: anywhere; }
.headline b { color: var(--ink); font-weight: 600; }
.made { margin: 6px 0 0; color: var(--soft); font-size: 12.5px; overflow-wrap: anywhere; }
.answers { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(300px, 100%), 1fr)); gap: 16px; margin-bottom: 16px; }
.answer h3 { margin: 0 0 2px; } .answer p { margin: 2px 0; color: var(--soft); font-size: 13.5px; } .answer p b { color: var(--ink); }
.answer .big { margin: 2px 0 4px; font-size: 40px; line-height: 1.15; font-weight: 600; color: var(--c, var(--ink)); } .answer .big span { font-size: 15px; font-weight: 400; color: var(--soft); }
.answer .badge-text { font-size: 22px; } .answer .right, .answer .right b { color: var(--right); } .answer .wrong, .answer .wrong b { color: var(--wrong); }
.statement { max-width: 90ch; } .answer .statement { color: var(--ink); font-size: 15px; }
.note + .card { margin-top: 10px; }
.notes { margin: 0; padding-left: 20px; max-width: 90ch; } .notes li { margin: 4px 0; }
.sections { position: sticky; top: 0; z-index: 5; background: var(--page); border-bottom: 1px solid var(--line); }
.sections .inner { display: flex; gap: 22px; overflow-x: auto; scrollbar-width: none; }
.sections a { padding: 11px 0; color: var(--soft); text-decoration: none; font-size: 14px; white-space: nowrap; }
.sections a:hover { color: var(--ink); }
main > section { padding: 30px 0 6px; }
h2 { margin: 0 0 14px; font-size: 19px; line-height: 1.3; }
h2 span { margin-left: 6px; font-weight: 400; font-size: 13.5px; color: var(--soft); }
h3 { margin: 18px 0 8px; font-size: 15px; }
.part-heading { margin-top: 26px; padding-top: 14px; border-top: 1px solid var(--line); }
.part-heading:first-of-type { border: 0; padding: 0; margin-top: 0; }
.key { white-space: nowrap; display: inline-block; width: 10px; height: 10px; margin-right: 7px; border-radius: 50%; background: var(--c); }
.s0 { --c: var(--s0); } .s1 { --c: var(--s1); } .s2 { --c: var(--s2); } .s3 { --c: var(--s3); } .s4 { --c: var(--s4); } .s5 { --c: var(--s5); }

svg { display: block; overflow: visible; }
svg text { fill: var(--soft); font-size: 11px; font-variant-numeric: tabular-nums; }
svg .middle { text-anchor: middle; } svg .end { text-anchor: end; }
svg .value { fill: var(--ink); font-size: 11.5px; }
svg .grid { stroke: var(--line); shape-rendering: crispEdges; }
svg .axis { stroke: var(--soft); shape-rendering: crispEdges; }
svg .zero { stroke: var(--ink); stroke-width: 1; }
svg .paper { stroke: var(--ink); stroke-width: 2.5; opacity: .55; }
svg .whisker { stroke: var(--c); stroke-width: 1.5; }
svg .dot { fill: var(--c); stroke: var(--card); stroke-width: 1.5; }
svg .bar { fill: var(--c); } svg .track { fill: var(--track); }
svg .lost { fill: color-mix(in srgb, var(--c) 32%, var(--track)); }

table { border-collapse: collapse; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 12px 16px; min-width: 0; }
.card + .card { margin-top: 12px; }
.panel { width: 100%; font-size: 14px; border-spacing: 0; border-collapse: separate; }
.panel caption:not(.unseen) { caption-side: top; text-align: left; padding: 0 0 2px; font-weight: 600; }
.panel th { font-weight: 400; text-align: left; padding: 0 6px 0 0; overflow-wrap: anywhere; min-width: 92px; max-width: 140px; line-height: 22px; }
.panel thead th { overflow-wrap: normal; min-width: 0; vertical-align: bottom; font-size: 12px; color: var(--soft); }
.panel td { padding: 0; }
.panel .number { text-align: right; white-space: nowrap; padding: 0 14px 0 10px; }
.panel .number small { display: inline-block; min-width: 56px; font-size: 12px; }
.panel thead .number { color: var(--soft); font-size: 12.5px; }
.panel .chart { width: 40%; min-width: 96px; max-width: none; padding: 0; }
.panel .group th { max-width: none; padding: 8px 0 1px; font-size: 12px; color: var(--soft); }
.panel tbody th[rowspan]:not([rowspan="1"]) { vertical-align: top; }
.panel tbody + tbody:not(:has(.group)) tr:first-child:has(th[rowspan]:not([rowspan="1"])) > * { border-top: 1px solid var(--track); }
.panel.lines td, .panel.lines th { padding-top: 4px; padding-bottom: 4px; vertical-align: top; line-height: 20px; }
.panel.lines thead th { vertical-align: bottom; }
.lines svg { margin-top: 4px; }
.lines .chart { width: 30%; min-width: 80px; padding-left: 18px; padding-right: 8px; }
.lines .reasons, .lines .what { padding-left: 18px; padding-right: 18px; }
.note { color: var(--soft); font-size: 13.5px; margin: 8px 0 0; }
.plain { width: 100%; font-size: 14px; }
.plain th, .plain td { padding: 5px 14px 5px 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; font-weight: 400; overflow-wrap: break-word; }
.plain td { min-width: 80px; overflow-wrap: anywhere; }
.plain thead th { color: var(--soft); font-size: 13px; }
.plain .number { text-align: right; white-space: nowrap; }
.plain .number small { display: inline-block; min-width: 66px; }
.matrix { width: 100%; border-spacing: 0; }
.matrix th, .matrix td { padding: 10px 24px 10px 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; font-weight: 400; overflow-wrap: anywhere; }
.matrix thead th { color: var(--soft); font-size: 13px; } .matrix tbody th { font-weight: 600; } .matrix tbody tr:last-child > * { border-bottom: 0; }
.matrix td { min-width: 110px; } .matrix b { font-size: 28px; line-height: 1.15; font-weight: 600; } .matrix small { display: block; }
.wide { overflow-x: auto; }
details > summary { cursor: pointer; color: var(--accent); font-size: 14px; padding: 4px 0; width: fit-content; }

.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(240px, 100%), 1fr)); gap: 16px; }
figure { margin: 0; padding: 12px 16px; background: var(--card); border: 1px solid var(--line); border-radius: 10px; position: relative; display: flex; flex-direction: column; }
figcaption { font-size: 14px; line-height: 1.35; margin-bottom: 8px; min-height: 2.7em; }
figcaption b { font-weight: 600; display: block; } figcaption span { color: var(--soft); font-size: 12.5px; }

.pairs { margin: 4px 0 8px; font-size: 13.5px; }
.pairs > div { break-inside: avoid; display: grid; grid-template-columns: minmax(120px, 34%) 1fr; gap: 12px; padding: 3px 0; border-top: 1px solid var(--track); }
.pairs dt { color: var(--soft); overflow-wrap: anywhere; } .pairs dd { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font-family: var(--mono); font-size: 12.5px; }
.banner { margin-top: 22px; padding: 14px 18px; border-radius: 10px; background: var(--banner); color: var(--banner-ink); border-left: 5px solid var(--wrong); }
.banner h2 { margin: 0 0 4px; } .banner p { margin: 0 0 8px; max-width: 90ch; }
.banner .plain thead th, .banner small { color: inherit; } .banner .plain th, .banner .plain td { border-color: color-mix(in srgb, var(--wrong) 30%, transparent); }
.badge { display: inline-block; padding: 1px 9px; border-radius: 99px; font-size: 12.5px; font-weight: 600; background: var(--track); color: var(--soft); text-decoration: none; }
.badge.right { color: var(--right); } .badge.wrong, .badge.failed { color: var(--wrong); } .badge.partly { color: var(--partly); }

.viewer { background: var(--card); border: 1px solid var(--line); border-radius: 10px; overflow: clip; }
.toolbar { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; padding: 10px 12px; border-bottom: 1px solid var(--line); }
.toolbar .search { position: relative; flex: 1 1 210px; max-width: 340px; }
.toolbar input, .toolbar select, .toolbar button { font: inherit; font-size: 14px; color: var(--ink); background: var(--page); border: 1px solid var(--line); border-radius: 7px; height: 34px; padding: 0 9px; }
.toolbar input { width: 100%; padding-right: 34px; }
.toolbar .search kbd { position: absolute; right: 8px; top: 7px; pointer-events: none; }
.toolbar .search input:focus + kbd, .toolbar .search input:not(:placeholder-shown) + kbd { display: none; }
.toolbar select { max-width: 190px; } .toolbar select.set { border-color: var(--accent); color: var(--accent); font-weight: 600; }
.toolbar button { cursor: pointer; color: var(--accent); }
.facets { display: flex; flex-wrap: wrap; gap: 8px; }
.count { margin-left: auto; color: var(--soft); font-size: 13.5px; white-space: nowrap; }
kbd { border: 1px solid var(--line); border-bottom-width: 2px; border-radius: 4px; padding: 0 5px; font-size: 12px; color: var(--soft); background: var(--card); }
.panes { display: grid; grid-template-columns: minmax(260px, 360px) 1fr; height: min(78vh, 900px); }
.list { overflow-y: auto; border-right: 1px solid var(--line); position: relative; contain: strict; }
.list:focus-visible { outline-offset: -2px; }
.rows { position: relative; min-height: 100%; }
.line { position: absolute; left: 0; right: 0; height: 60px; display: grid; grid-template: "mark title" "mark lower" / 34px 1fr; column-gap: 0; padding: 9px 14px 9px 8px; border-bottom: 1px solid var(--track); cursor: pointer; align-content: center; }
.line:hover { background: var(--track); }
.line[aria-selected="true"] { background: var(--policy-back); box-shadow: inset 3px 0 0 var(--accent); }
.line > * { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.line .title { grid-area: title; font-size: 14px; line-height: 21px; }
.line .lower { grid-area: lower; display: flex; gap: 10px; font-size: 13px; line-height: 20px; color: var(--soft); }
.line .subtitle { overflow: hidden; text-overflow: ellipsis; flex: 1; } .line .label { flex: none; }
.verdict { grid-area: mark; text-align: center; font-size: 15px; line-height: 21px; color: var(--soft); }
.verdict.right { color: var(--right); } .verdict.wrong, .verdict.failed { color: var(--wrong); } .verdict.partly { color: var(--partly); }
.empty { padding: 24px; color: var(--soft); text-align: center; margin: 0; }
.detail { overflow-y: auto; padding: 18px 22px 28px; min-width: 0; }
.detail:focus-visible { outline: none; }
.detail h3 { margin: 0 0 10px; font-size: 18px; line-height: 1.35; overflow-wrap: anywhere; }
.facts { display: flex; flex-wrap: wrap; gap: 8px 26px; margin: 0 0 12px; }
.facts dt { font-size: 12px; color: var(--soft); line-height: 1.3; } .facts dd { margin: 0; font-size: 14px; overflow-wrap: anywhere; }
.facts .badge { font-size: 13px; margin-left: -2px; }
.siblings { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; margin-bottom: 12px; font-size: 13px; color: var(--soft); }
.siblings [aria-current] { box-shadow: 0 0 0 1.5px currentColor; }
.message { margin-top: 18px; }
.message h4, .remark h4 { margin: 0 0 6px; font-size: 12.5px; font-weight: 600; color: var(--soft); }
.part { display: grid; grid-template-columns: 92px 1fr; margin-bottom: 4px; border-radius: 6px; border-left: 3px solid var(--o); background: var(--b); }
.owner { padding: 7px 0 0 10px; font-size: 11.5px; line-height: 20px; font-weight: 500; color: var(--soft); }
.policy { --o: var(--s0); --b: var(--policy-back); } .environment { --o: var(--s2); --b: var(--environment-back); }
.template { --o: var(--line); --b: transparent; } .inserted { --o: var(--s1); --b: var(--inserted-back); }
pre { margin: 0; padding: 7px 12px 7px 4px; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 13px; line-height: 20px; min-width: 0; }
.tag { color: var(--soft); font-weight: 600; } .tag-call { color: var(--s3); } .tag-answer { color: var(--right); }
.in-thought { font-style: italic; color: var(--soft); } .in-call { color: var(--s3); font-weight: 600; } .in-answer { color: var(--right); font-weight: 600; }
.passage.gold { background: var(--gold-back); box-shadow: 0 0 0 3px var(--gold-back); border-radius: 2px; }
.gold-mark { color: var(--gold); font-size: 11.5px; }
.found { margin-bottom: 6px; display: grid; grid-template-columns: 92px 1fr; padding-left: 3px; }
.found .owner { padding-top: 2px; } .found ol { display: flex; flex-wrap: wrap; gap: 4px 8px; margin: 2px 0 0 4px; padding: 0; list-style: none; }
.found li { font: 12px/18px var(--mono); padding: 0 7px; border-radius: 4px; background: var(--track); color: var(--soft); overflow-wrap: anywhere; }
.found li.gold { background: var(--gold-back); color: var(--gold); font-weight: 600; }
.remark { margin-top: 10px; padding: 8px 12px; border-radius: 6px; background: var(--track); font-size: 13.5px; }
.remark p { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; } .remark.problem { background: var(--banner); color: var(--banner-ink); } .remark.problem h4 { color: inherit; }
.keys { margin: 0; padding: 7px 14px; border-top: 1px solid var(--line); color: var(--soft); font-size: 12.5px; }
.keys kbd:not(:first-child) { margin-left: 12px; } .keys kbd + kbd:nth-child(2) { margin-left: 2px; }
.notice { padding: 10px 14px; }
.part-trajectories { padding-bottom: 40px; }

@media (max-width: 760px) {
  .inner, main { padding: 0 16px; }
  .top { padding: 22px 0 14px; } h1 { font-size: 24px; }
  h2 span { display: block; margin: 2px 0 0; }
  .card, figure { padding: 10px 12px; }
  .panel .chart { min-width: 60px; }
  .panel .number { padding-left: 6px; }
  .panes { grid-template-columns: 1fr; height: auto; }
  .list { height: 330px; border-right: 0; border-bottom: 1px solid var(--line); }
  .detail { padding: 16px; } .keys { display: none; }
  .toolbar .search { max-width: none; flex-basis: 100%; } .toolbar select { flex: 1 1 40%; max-width: none; } .facets { width: 100%; }
  .part, .found { grid-template-columns: 1fr; } .owner { padding: 5px 0 0 10px; line-height: 16px; } pre { padding-left: 10px; padding-top: 2px; } .found ol { margin-left: 8px; }
  .pairs > div { grid-template-columns: 1fr; gap: 0; }
  .count { margin-left: 0; }
}
@media (max-width: 560px) {
  .stacks, .stacks tbody, .stacks tr, .stacks th, .stacks td { display: block; width: auto; min-width: 0; max-width: none; }
  .stacks thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .card .stacks tr { padding: 8px 0; border-bottom: 1px solid var(--line); }
  .card .stacks th, .card .stacks td { padding: 1px 0; border: 0; text-align: left; white-space: normal; }
  .card .stacks th { font-weight: 600; position: static; }
  .card .stacks td { display: grid; grid-template-columns: 110px minmax(0, 1fr); gap: 10px; }
  .card .stacks td::before { content: attr(data-label); color: var(--soft); font-size: 12.5px; overflow-wrap: anywhere; }
  .card .stacks .chart { width: auto; padding-right: 6px; } .card .stacks td:has(> div:empty) { display: none; }
  .card .stacks .number small { min-width: 0; }
}
@media print {
  :root { --page: #fff; --card: #fff; }
  body { font-size: 11pt; } .sections, .toolbar, .list, .keys, .skip { display: none; }
  main, .inner { max-width: none; padding: 0; }
  .panes { display: block; height: auto; } .detail { overflow: visible; padding: 8px 0; } .viewer { border: 0; }
  table, figure, .message, .banner { break-inside: avoid; } section { break-inside: auto; }
  svg, .part, .gold, .banner { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`;

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

/** The style of the atlas: its list of systems, and a box for each. */
export const ATLAS_STYLE = `
.atlas-filter { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; margin-bottom: 14px; font-size: 14px; color: var(--soft); }
.atlas-filter label { display: inline-flex; gap: 6px; align-items: center; }
.atlas-filter select { font: inherit; color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: 7px; height: 34px; padding: 0 9px; }
.atlas-filter output { margin-left: auto; }
.system { margin: 0 0 26px; padding: 18px 22px 16px; background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
.system > h3 { margin: 0; font-size: 20px; } .system > h3 small { margin-left: 8px; font-weight: 400; }
.system > .statement { margin: 4px 0 2px; }
.system .card { border: 0; padding: 0; margin-top: 10px; } .system .panel tbody th { white-space: nowrap; max-width: none; padding-right: 14px; }
.claim { margin-top: 18px; padding-top: 14px; border-top: 1px solid var(--line); }
.claim > h3 { display: flex; flex-wrap: wrap; gap: 4px 10px; align-items: baseline; margin: 0 0 4px; font-size: 15px; } .claim > h3 small { font-weight: 400; }
.claim .statement { margin: 2px 0 0; }
.claim .looks { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 340px), 1fr)); gap: 10px 26px; align-items: start; margin-top: 12px; }
.claim figure { padding: 0; border: 0; }
.system details { margin-top: 12px; }
[hidden] { display: none !important; }
@media (max-width: 760px) {
  .system { padding: 14px 14px 12px; } .atlas-filter output { margin-left: 0; } .atlas-filter label, .atlas-filter select { flex: 1; min-width: 0; }
}
`;

import { plural } from "../../base/format.ts";
import type { ClaimResult } from "../../experiment/claims/claim-results.ts";
import type { KeptResults, KeptRun } from "../../experiment/claims/kept-results.ts";
import { daysText, machineText } from "../../experiment/claims/run-origin.ts";
import {
  baseText,
  measuredText,
  staleText,
  verdictLine,
} from "../../experiment/claims/verdict-text.ts";
import { curvePlot } from "../charts/curve.ts";
import { drawnPanel } from "../runs/drawn-panels.ts";
import type { PanelSpec } from "../runs/panels.ts";
import type { ItemSpec, ViewerItem } from "../viewer/embed.ts";
import { tableCard } from "./html-table.ts";
import type { Made } from "./made.ts";
import { type Content, html, type Markup, note, seriesLabel, tag } from "./markup.ts";
import { reportPage } from "./report-page.ts";
import { baseTable, claimTables, splitReason, tierNote, TONES } from "./reproduction-page.ts";

/** A recipe with claims, and what is known of them. */
export interface AtlasSystem {
  name: string;
  summary: string;
  family: string;
  /** Ids of its claims, as the recipe states them today. */
  claims: string[];
  /** null: not measured yet. */
  results: KeptResults | null;
  /** Whether the recipe still has the claims and settings of the results; null: they do not say. */
  isCurrent: boolean | null;
}

const ATLAS_SPEC: ItemSpec = {
  noun: ["trajectory", "trajectories"],
  facets: [
    { key: "run", label: "Arm" },
    { key: "verdict", label: "Verdict" },
    { key: "reward", label: "Reward" },
    { key: "searches", label: "Searches" },
  ],
  chunkSize: 50,
};

/** Positions of these facets among those of a run's items. */
const FACETS = [0, 4, 5, 6];

/**
 * The atlas as one self-contained page, in pieces: every system with its claims, the paper's cells, our numbers, curves, trajectories, and
 * where each number comes from. Nothing is measured.
 *
 * @throws {DataError} FILE_MISSING when the package was not built.
 */
export async function* atlasPage(
  systems: readonly AtlasSystem[],
  made: Made,
): AsyncGenerator<string> {
  const measured = systems.filter(({ results }) => results !== null).length;
  const items = systems.flatMap(({ results }) => (results?.samples ?? []) as ViewerItem[]);
  yield* reportPage({
    kind: "atlas",
    title: "Atlas of systems",
    made,
    hasAtlas: true,
    headlines: [
      html`<p class="headline">
        <b>${plural(systems.length, "system")}</b>, ${measured} measured: what papers claim of
        search and tool agents, and what their miniatures show
      </p>`,
    ],
    sections: [
      {
        id: "overview",
        title: "Overview",
        content: [filter(systems), tag("ul", { class: "atlas-list" }, systems.map(listEntry))],
      },
      { id: "systems", title: "Systems", content: systems.map(systemBox) },
    ],
    viewer:
      items.length === 0
        ? null
        : {
            id: "trajectories",
            title: "Trajectories",
            spec: ATLAS_SPEC,
            note: "of the last step of each trained arm: one question, its highest and its lowest reward",
            items: viewerItems(items),
          },
  });
}

async function* viewerItems(items: readonly ViewerItem[]): AsyncGenerator<ViewerItem> {
  for (const { entry, detail } of items) {
    const facets = FACETS.map((at) => entry.facets[at] ?? null);
    yield await Promise.resolve({ entry: { ...entry, facets }, detail });
  }
}

function filter(systems: readonly AtlasSystem[]): Markup {
  const families = [...new Set(systems.map(({ family }) => family))].sort();
  const verdicts = new Set(
    systems.flatMap(({ results }) => results?.claims.map(({ verdict }) => verdict) ?? []),
  );
  const choice = (id: string, label: string, values: Iterable<string>): Markup =>
    html`<label
      >${label}
      <select id="${id}">
        <option value="">all</option>
        ${[...values].map((value) => tag("option", { value }, value))}
      </select></label
    >`;
  return html`<form class="atlas-filter" aria-label="Filter">
    ${choice("atlas-family", "Family", families)} ${choice("atlas-verdict", "Verdict", verdicts)}
    <output id="atlas-count" aria-live="polite">${plural(systems.length, "system")}</output>
  </form>`;
}

function badge({ verdict }: Pick<ClaimResult, "verdict">, text: string): Markup {
  return tag("span", { class: `badge ${TONES[verdict] ?? ""}`, "data-verdict": verdict }, text);
}

function listEntry({ name, family, claims, results, isCurrent }: AtlasSystem): Markup {
  const chips =
    results === null
      ? (claims.length === 0 ? ["no claims yet"] : claims).map((text) =>
          tag("span", { class: "badge" }, text),
        )
      : results.claims.map((claim) => badge(claim, `${claim.id}: ${claim.verdict}`));
  return html`<li data-family="${family}">
    <a href="#${name}">${name}</a><span class="what">${family}</span
    ><span class="chips">${chips}</span
    ><span class="when">${measuredText({ claims, results, isCurrent })}</span>
  </li>`;
}

function systemBox({ name, summary, family, claims, results, isCurrent }: AtlasSystem): Markup {
  return html`<article class="system" id="${name}" data-family="${family}">
    <h3>
      ${name}<small>${family}${results?.paper != null && ` · paper ${results.paper.id}`}</small>
    </h3>
    <p class="statement">${summary}</p>
    ${
      results === null && claims.length === 0
        ? html`<p class="unmeasured">No claims yet.</p>`
        : results === null
          ? html`<p class="unmeasured">
              Not measured yet: ${claims.join(", ")}. <code>agentrl reproduce ${name} --keep</code>
              measures it.
            </p>`
          : [staleText(name, isCurrent).map((text) => note(text)), measuredSystem(results)]
    }
  </article> `;
}

function measuredSystem(results: KeptResults): Content {
  const { claims, notes, tier, seeds, runs } = results;
  return [
    note(
      `tier ${tier} · ${plural(seeds.length, "seed")} · ${daysText(runs)} · ${machinesOf(runs)}`,
    ),
    baseText(results).map((text) => note(text)),
    claims.map((claim) => claimBox(claim, results)),
    results.base.length > 0 &&
      tag(
        "details",
        {},
        tag("summary", {}, "Settings of claims that differ from agentrl train"),
        baseTable(results.base),
      ),
    tag(
      "details",
      {},
      tag("summary", {}, "What the miniature changes"),
      tag(
        "ul",
        { class: "notes" },
        [tierNote(tier), ...notes].map((each) => tag("li", {}, each)),
      ),
    ),
    tag(
      "details",
      {},
      tag("summary", {}, `Where the numbers come from: ${plural(runs.length, "run")}`),
      runTable(runs),
    ),
  ];
}

function claimBox(claim: ClaimResult, results: KeptResults): Markup {
  const [, reason] = splitReason(verdictLine(claim, results));
  return html`<div class="claim" data-verdict="${claim.verdict}">
    <h4>
      ${badge(claim, claim.verdict)}${claim.id}<small>${claim.metric} · ${claim.source}</small>
    </h4>
    ${reason !== null && note(reason)} ${claimTables(claim)}
    <div class="looks">${curves(claim, results)}${samplesOf(claim, results)}</div>
  </div>`;
}

/** Reward in training with held-out EM, then the claim's other curves, each with all arms. */
function curves(claim: ClaimResult, { runs }: KeptResults): Content {
  const reward = {
    title: "Reward in training, and held-out EM",
    unit: "",
    metrics: ["reward"],
    ...({ heldOut: "em", share: true } as const),
    told: "lines: reward; dots: EM; band: min–max of seeds",
  };
  const others = (claim.curves ?? []).map((name) => {
    return { title: name, unit: "", metrics: [name], told: "band: min–max of seeds" };
  });
  return [reward, ...others].map((spec) => curve(spec, armCurves(claim, runs, spec)));
}

/** Each arm's runs with the values of one metric. */
function armCurves(
  claim: ClaimResult,
  runs: readonly KeptRun[],
  { metrics: [metric = ""], heldOut: isHeldOut }: PanelSpec,
) {
  const valuesOf = (run: KeptRun) => (isHeldOut ? run.reward : (run.curves?.[metric] ?? []));
  return claim.arms.map(({ name }, series) => ({
    arm: { series },
    runs: runsOf(runs, claim.id, name).map((run) => ({
      rolledBack: [],
      files: {
        metrics: valuesOf(run).map(({ step, value }) => ({ step, values: { [metric]: value } })),
        evaluations: run.heldOut.map(({ step, n, em, ci95 }) => ({
          name: `step ${step}`,
          step,
          n,
          metrics: { em },
          intervals: { em: ci95 },
          fingerprint: null,
          readsGold: false,
          rows: "",
        })),
      },
    })),
  }));
}

/** A metric of all arms by step; null where no arm was trained. */
function curve(spec: PanelSpec & { told: string }, arms: ReturnType<typeof armCurves>): Content {
  const panel = drawnPanel(spec, { arms });
  const steps = arms.flatMap((arm) =>
    arm.runs.flatMap(({ files }) =>
      [...files.metrics, ...files.evaluations].map(({ step }) => step),
    ),
  );
  if (panel === null || Math.max(...steps) === 0) return null;
  const frame = { steps: [Math.min(...steps), Math.max(...steps)] as const, axis: panel.axis };
  return html`<figure class="curve band-range">
    <figcaption><b>${spec.title}</b> <span>${spec.told}</span></figcaption>
    ${curvePlot(panel.curves, [], frame)}
  </figure>`;
}

/** Links from each arm to its trajectories in the viewer. */
function samplesOf(claim: ClaimResult, { runs, samples, recipe }: KeptResults): Content {
  const items = samples as ViewerItem[];
  const lines = claim.arms.map(({ name }, series) => {
    // Arms of equal settings are one run, whose trajectories are kept under the first arm's name.
    const [first = ""] = runsOf(runs, claim.id, name)[0]?.arms ?? [];
    const own = items.filter(({ entry }) => entry.facets[0] === `${recipe} ${first}`);
    const links = own.map(({ entry }, i) => [
      i > 0 && ", ",
      tag("a", { href: `#${encodeURIComponent(entry.id)}` }, `reward ${entry.facets[5] ?? "–"}`),
    ]);
    return tag(
      "li",
      {},
      seriesLabel(series, `${name}: `),
      links.length > 0 ? ["trajectories with ", links] : "no trajectories of a reinforcement",
    );
  });
  return tag("ul", { class: "to-look-at" }, lines);
}

function runsOf(runs: readonly KeptRun[], claim: string, arm: string): KeptRun[] {
  return runs.filter(({ arms }) => arms.includes(`${claim}/${arm}`));
}

function runTable(runs: readonly KeptRun[]): Markup {
  return tableCard({
    caption: "Runs",
    className: "plain",
    columns: ["arms", "seed", "settings", "day", "version", "machine", "command"],
    rows: runs.map(({ arms, seed, key, origin, hashes }) => [
      arms.join(", "),
      String(seed),
      tag("code", { title: hashText(hashes) }, key),
      ...[origin.date, origin.version, machineText(origin.machine)],
      tag("code", {}, origin.command),
    ]),
  });
}

/** Checksums of the manifest, one a line. */
function hashText(hashes: Readonly<Record<string, unknown>>): string {
  return Object.entries(hashes)
    .map(([name, hash]) => `${name} ${String(hash)}`)
    .join("\n");
}

function machinesOf(runs: readonly KeptRun[]): string {
  return [...new Set(runs.map(({ origin }) => machineText(origin.machine)))].join("; ");
}

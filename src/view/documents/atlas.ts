import { plural } from "../../base/format.ts";
import type { ClaimResult } from "../../experiment/claims/claim-results.ts";
import type { KeptResults, KeptRun } from "../../experiment/claims/kept-results.ts";
import { daysText, machineText } from "../../experiment/claims/run-origin.ts";
import {
  baseText,
  calibrationText,
  methodNote,
  staleText,
  tallyText,
  verdictLine,
} from "../../experiment/claims/verdict-text.ts";
import {
  type Block,
  code,
  type Document,
  heading,
  type Inline,
  named,
  note,
  strong,
  table,
} from "../document.ts";
import { drawnPanel } from "../runs/drawn-panels.ts";
import type { PanelSpec } from "../runs/panels.ts";
import type { ItemSpec, ViewerItem } from "../viewer/embed.ts";
import {
  atlasOverview,
  type AtlasSystem,
  atlasTally,
  badge,
  countedClaims,
  forest,
  instrumentsLast,
} from "./atlas-overview.ts";
import { baseTable, claimBlocks, splitReason, tierNote } from "./reproduction.ts";

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
 * The atlas: every system with its claims, the paper's cells, our numbers, curves, trajectories, and where each number comes from. Nothing
 * is measured.
 */
export function atlasDocument(systems: readonly AtlasSystem[]): Document {
  const measured = systems.filter(({ results }) => results !== null).length;
  const items = systems.flatMap(({ results }) => (results?.samples ?? []) as ViewerItem[]);
  const families = [...new Set(systems.map(({ family }) => family))].sort();
  const [isMeasured, isOlder] = ([2, 1] as const).map(
    (procedure) => countedClaims(systems, procedure).length > 0,
  );
  const verdicts = systems.flatMap(
    ({ results }) => results?.claims.map(({ verdict }) => verdict) ?? [],
  );
  return {
    kind: "atlas",
    title: "Atlas of systems",
    lead: [
      [
        strong(plural(systems.length, "system")),
        `, ${measured} measured: what papers claim of search and tool agents, and what their miniatures show`,
      ],
      "A dot is our difference with its 95 % interval, the grey tick the paper's: compare directions, not sizes.",
    ],
    sections: [
      {
        id: "tally",
        title: "Can it be trusted?",
        blocks: [atlasTally(systems), ...(isMeasured ? [forest(systems, 2)] : [])],
      },
      ...(isOlder
        ? [
            {
              id: "history",
              title: "Older results",
              note: "first procedure: one draw a question, of both errors the wider one, mostly three seeds",
              blocks: [forest(systems, 1)],
            },
          ]
        : []),
      { id: "overview", title: "All claims", blocks: [atlasOverview(systems)] },
      {
        id: "systems",
        title: "Systems",
        blocks: [
          {
            kind: "filter",
            choices: [
              ["atlas-family", "Family", families],
              ["atlas-verdict", "Verdict", [...new Set(verdicts)]],
            ],
            count: plural(systems.length, "system"),
          },
          ...instrumentsLast(systems).map(systemBlock),
        ],
      },
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
  };
}

async function* viewerItems(items: readonly ViewerItem[]): AsyncGenerator<ViewerItem> {
  for (const { entry, detail } of items) {
    const facets = FACETS.map((at) => entry.facets[at] ?? null);
    yield await Promise.resolve({ entry: { ...entry, facets }, detail });
  }
}

function systemBlock(system: AtlasSystem): Block {
  const { name, summary, family, claims, results, isCurrent } = system;
  const missing =
    claims.length === 0 ? "No claims yet." : `Not measured yet: ${claims.join(", ")}.`;
  return {
    kind: "group",
    className: "system",
    id: name,
    data: { family },
    blocks: [
      heading(name, {
        style: "small",
        text: results?.paper ? `${family} · paper ${results.paper.id}` : family,
      }),
      { kind: "text", text: summary },
      ...(results === null
        ? [note(missing), ...(claims.length === 0 ? [] : [measuring(name)])]
        : [...staleText(name, isCurrent).map((text) => note(text)), ...measuredBlocks(results)]),
    ],
  };
}

function measuring(name: string): Block {
  return { kind: "command", does: "measures it", command: `agentrl reproduce ${name} --keep` };
}

function measuredBlocks(results: KeptResults): Block[] {
  const { claims, notes, tier, seeds, runs, base } = results;
  const machines = [...new Set(runs.map(({ origin }) => machineText(origin.machine)))].join("; ");
  return [
    note(
      `${tallyText(results)} · tier ${tier} · ${plural(seeds.length, "seed")} · ${daysText(runs)} · ${machines}`,
    ),
    ...[...baseText(results), ...calibrationText(results)].map((text) => note(text)),
    ...claims.map((claim): Block => ({
      kind: "group",
      className: "claim",
      data: { verdict: claim.verdict },
      blocks: [
        heading(badge(claim), ` ${claim.id}`),
        ...reasonNotes(claim),
        ...claimBlocks(claim),
        {
          kind: "group",
          className: "looks",
          blocks: [...curves(claim, results), samplesOf(claim, results)],
        },
      ],
    })),
    note(methodNote(results)),
    ...(base.length === 0
      ? []
      : [
          {
            kind: "fold" as const,
            title: "Settings of claims that differ from agentrl train",
            blocks: [baseTable(results)],
          },
        ]),
    {
      kind: "fold",
      title: "What the miniature changes",
      blocks: [{ kind: "list", items: [tierNote(tier), ...notes] }],
    },
    {
      kind: "fold",
      title: `Where the numbers come from: ${plural(runs.length, "run")}`,
      blocks: [runTable(runs)],
    },
  ];
}

function reasonNotes(claim: ClaimResult): Block[] {
  const [, reason] = splitReason(verdictLine(claim));
  return reason === null ? [] : [note(reason)];
}

/** Reward in training with held-out EM, then the claim's other curves, each with all arms. */
function curves(claim: ClaimResult, { runs }: KeptResults): Block[] {
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
  return [reward, ...others].flatMap((spec) => curve(spec, armCurves(claim, runs, spec)));
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

/** A metric of all arms by step; nothing where no arm was trained. */
function curve(spec: PanelSpec & { told: string }, arms: ReturnType<typeof armCurves>): Block[] {
  const panel = drawnPanel(spec, { arms });
  const steps = arms.flatMap((arm) =>
    arm.runs.flatMap(({ files }) =>
      [...files.metrics, ...files.evaluations].map(({ step }) => step),
    ),
  );
  if (panel === null || Math.max(...steps) === 0) return [];
  const frame = { steps: [Math.min(...steps), Math.max(...steps)] as const, axis: panel.axis };
  return [{ kind: "curve", panel, remark: spec.told, frame }];
}

/** Links from each arm to its trajectories in the viewer. */
function samplesOf(claim: ClaimResult, { runs, samples, recipe }: KeptResults): Block {
  const items = samples as ViewerItem[];
  const lines = claim.arms.map(({ name }, series): Inline => {
    // Arms of equal settings are one run, whose trajectories are kept under the first arm's name.
    const [first = ""] = runsOf(runs, claim.id, name)[0]?.arms ?? [];
    const own = items.filter(({ entry }) => entry.facets[0] === `${recipe} ${first}`);
    const links = own.map(({ entry }, i): Inline => [
      i > 0 && ", ",
      {
        text: `reward ${entry.facets[5] ?? "–"}`,
        style: "plain",
        href: `#${encodeURIComponent(entry.id)}`,
      },
    ]);
    return [
      named(series, `${name}: `),
      links.length > 0 ? ["trajectories with ", links] : "no trajectories of a reinforcement",
    ];
  });
  return {
    kind: "fold",
    title: "Trajectories",
    drawn: true,
    blocks: [{ kind: "list", items: lines }],
  };
}

function runsOf(runs: readonly KeptRun[], claim: string, arm: string): KeptRun[] {
  return runs.filter(({ arms }) => arms.includes(`${claim}/${arm}`));
}

/** Runs of one day, version, machine and command, with their seeds; a page has their keys and the checksums of their data. */
function runTable(runs: readonly KeptRun[]): Block {
  const groups = new Map<string, KeptRun[]>();
  for (const run of runs) {
    const { date, version, command, machine } = run.origin;
    const key = JSON.stringify([date, version, machineText(machine), command]);
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  return table(
    "Runs",
    [
      "day",
      "version",
      "machine",
      "command",
      "seeds",
      { label: "runs", drawn: true, className: "what" },
    ],
    [...groups].map(([key, own]) => {
      const [date = "", version = "", machine = "", command = ""] = JSON.parse(key) as string[];
      const seeds = [...new Set(own.map(({ seed }) => seed))].sort((a, b) => a - b);
      return [
        ...[date, version, machine, code(command), seeds.join(", ")],
        own.map(({ key: id, arms, hashes }, i): Inline => {
          const facts = Object.entries(hashes).map(([name, hash]) => `${name} ${String(hash)}`);
          return [i > 0 && " ", { text: id, style: "code", hint: [...arms, ...facts].join("\n") }];
        }),
      ];
    }),
  );
}

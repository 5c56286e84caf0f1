import { formatCount, formatInterval, orAbsent, plural } from "../../base/format.ts";
import { failuresText } from "../../evaluate/evaluation-summary.ts";
import {
  chartedMetrics,
  metricFormat,
  metricLabel,
  shownValue,
} from "../../evaluate/metrics/metric-columns.ts";
import { policyLabel } from "../../evaluate/policy-label.ts";
import { protocolLeaves } from "../../evaluate/protocol-leaves.ts";
import { compareResults, type OnDataset, protocolDifferences } from "../same-protocol.ts";
import {
  type Block,
  code,
  type Document,
  type Figure,
  type Inline,
  named,
  note,
  strong,
  table,
} from "../document.ts";
import { type DrawnResult, endTables, searchBlocks } from "./behaviour.ts";
import { pairedWithFirst } from "../paired-with-first.ts";
import { failuresOf, type Results } from "../results-schema.ts";
import { runFigures } from "../run-figures.ts";
import { scoreGroups } from "../score-groups.ts";
import {
  EVALUATION_SPEC,
  evaluationItems,
  type ReadableResult,
} from "../viewer/evaluation-items.ts";
import { differencesTable, matrixBlocks, PAIRED_NOTE, READS_GOLD, scoreTable } from "./scores.ts";

/**
 * The report of evaluations: scores, ends, search behaviour, protocol, and every trajectory. Files are read twice, for the figures and for
 * the viewer; memory holds only numbers and the viewer's list.
 *
 * @param results at least one, with different names. Results of different protocols are separated and marked.
 * @param across parts of the protocol in which results may differ on purpose.
 */
export async function evaluationDocument(
  results: readonly ReadableResult[],
  across: readonly string[] = [],
): Promise<Document> {
  const measured = results.map((readable) => {
    return { name: readable.files.name, results: readable.files.results, readable };
  });
  const { matrix, parts } = compareResults(measured, across);
  const drawn = await withFigures(parts);
  const all = drawn.flatMap(drawnOf);
  // Datasets, and protocols of one dataset, get their own headings in every section with numbers.
  const apart = async (
    draw: (of: readonly DrawnResult[]) => Block[] | Promise<Block[]>,
  ): Promise<Block[]> => {
    const blocks: Block[] = [];
    for (const { dataset, protocols } of drawn) {
      if (dataset !== null) blocks.push(partHeading(dataset));
      for (const { fingerprint, of } of protocols)
        blocks.push(
          ...(protocols.length > 1 ? [partHeading("Protocol ", code(fingerprint))] : []),
          ...(await draw(of)),
        );
    }
    return blocks;
  };
  const draws = all.some(({ results: { samplesPerTask } }) => samplesPerTask > 1);
  return {
    kind: "evaluation",
    title: [...new Set(measured.map((own) => own.results.dataset))].join(", "),
    lead: leads(all, matrix !== null),
    warnings: drawn.filter(({ protocols }) => protocols.length > 1).map(unlikeWarning),
    sections: [
      ...(matrix === null
        ? []
        : [
            {
              id: "matrix",
              title: "Policies on datasets",
              note: "with 95 % intervals",
              blocks: matrixBlocks(matrix, true),
            },
          ]),
      {
        id: "scores",
        title: "Scores",
        note: `means over questions${draws ? " and their draws" : ""}, lines are 95 % intervals`,
        blocks: await apart(async (of) => [
          ...(matrix === null
            ? [{ kind: "figures" as const, figures: of.map((own) => answer(own, all.length > 1)) }]
            : []),
          scoreTable(of),
          ...(await differences(of, across)),
          metricTable(of),
        ]),
      },
      {
        id: "ends",
        title: "How trajectories ended",
        note: "draws by their end",
        blocks: await apart(endTables),
      },
      { id: "search", title: "Search behaviour", blocks: await apart(searchBlocks) },
      {
        id: "protocol",
        title: "Protocol",
        note: "all settings of the measurement except the policy",
        blocks: drawn.flatMap((part) => [
          ...(part.dataset === null ? [] : [partHeading(part.dataset)]),
          ...part.protocols.flatMap(({ fingerprint, of }) => protocolBlocks(fingerprint, of)),
        ]),
      },
    ],
    viewer: {
      id: "trajectories",
      title: "Trajectories",
      spec: EVALUATION_SPEC,
      items: evaluationItems(
        drawn.flatMap((part) =>
          drawnOf(part).map(({ name, readable }) => ({
            ...readable,
            name: part.dataset === null ? name : `${name} · ${part.dataset}`,
          })),
        ),
      ),
    },
  };
}

/** Results with their figures; a policy has one colour on all datasets. */
async function withFigures(
  parts: readonly OnDataset<Pick<DrawnResult, "name" | "results" | "readable">>[],
): Promise<OnDataset<DrawnResult>[]> {
  const names = [...new Set(parts.flatMap(drawnOf).map(({ name }) => name))];
  const drawn = new Map<unknown, DrawnResult>();
  for (const own of parts.flatMap(drawnOf)) {
    const { files, goldOf } = own.readable;
    const [groups, figures] = [await scoreGroups(files), await runFigures(files, goldOf)];
    drawn.set(own, { ...own, series: names.indexOf(own.name), groups, figures });
  }
  return parts.map(({ dataset, protocols }) => ({
    dataset,
    protocols: protocols.map(({ fingerprint, of }) => ({
      fingerprint,
      of: of.flatMap((own) => drawn.get(own) ?? []),
    })),
  }));
}

function drawnOf<T>({ protocols }: OnDataset<T>): T[] {
  return protocols.flatMap(({ of }) => of);
}

function partHeading(...text: Inline[]): Block {
  return { kind: "heading", level: 2, text };
}

/** EM, large, or the first metric that the result has. */
function answer(
  { name, series, groups, results: { metrics, n } }: DrawnResult,
  isNamed: boolean,
): Figure {
  const [metric = "em", ...others] = chartedMetrics(metrics);
  const interval = groups[0]?.intervals[metric];
  return {
    series,
    name: isNamed && named(series, name),
    label: metricLabel(metric),
    value: shownValue(metrics, metric),
    format: metricFormat(metric),
    details: [
      [
        interval != null && `${formatInterval(interval, metricFormat(metric))} (95 %), `,
        plural(n, "question"),
      ],
      others
        .map(
          (each) =>
            `${metricLabel(each)} ${orAbsent(shownValue(metrics, each), metricFormat(each))}`,
        )
        .join(" · "),
    ],
  };
}

/** A line per result; in a matrix one line with the facts of all results, and one per result for its own facts. */
function leads(drawn: readonly DrawnResult[], isMatrix: boolean): Inline[] {
  const facts = drawn.map(({ results }) => factsOf(results, isMatrix));
  const [first = []] = facts;
  const shared = isMatrix ? first.filter((fact) => facts.every((of) => of.includes(fact))) : [];
  const lines = drawn.flatMap(({ name, series, results }, i): Inline[] => {
    const own = (facts[i] ?? []).filter((fact) => !shared.includes(fact)).join(" · ");
    const failures = failuresOf(results);
    const warnings = [
      ...(failures.n > 0 ? [failuresText(failures)] : []),
      ...(results.readsGold ? [READS_GOLD] : []),
    ];
    if (own === "" && warnings.length === 0) return [];
    return [
      [
        drawn.length > 1 && [
          strong(named(series, name)),
          isMatrix ? ` on ${results.dataset} ` : " ",
        ],
        own,
        warnings.map((text): Inline => [" ", { text, style: "trouble" }]),
      ],
    ];
  });
  return [...(shared.length > 0 ? [shared.join(" · ")] : []), ...lines];
}

/** @param isMatrix policy and number of questions are in the matrix. */
function factsOf(results: Results, isMatrix: boolean): string[] {
  const { n, samplesPerTask, policy, strategy, recipe, seed } = results;
  return [
    ...(isMatrix || policy.from === undefined ? [] : [`policy ${policyLabel(policy)}`]),
    `strategy ${strategy}`,
    ...(isMatrix ? [] : [`${formatCount(n)} questions`]),
    ...(samplesPerTask > 1 ? [`${samplesPerTask} draws each`] : []),
    ...(recipe === undefined ? [] : [`recipe ${recipe.name} (${recipe.tier})`]),
    `seed ${seed}`,
  ];
}

/** Comparable results against the first one. */
async function differences(
  of: readonly DrawnResult[],
  across: readonly string[],
): Promise<Block[]> {
  const found = await pairedWithFirst(
    of.map(({ readable }) => readable.files),
    across,
  );
  const [first, ...others] = of;
  if (found === null || first === undefined) return [];
  if (typeof found === "string") return [note(`Not compared: ${found}`)];
  const metrics = found.map(({ metric, others: own }) => ({
    metric,
    rows: others.map(({ series, name }, i) => {
      const { n = null, mean = null } = own[i] ?? {};
      return { name: named(series, name), n, mean, difference: own[i] ?? null };
    }),
  }));
  const caption = `Differences to ${first.name}`;
  return [
    { kind: "heading", text: caption },
    ...differencesTable(caption, metrics, "questions"),
    note(PAIRED_NOTE),
  ];
}

/** Every metric of every result. */
function metricTable(results: readonly DrawnResult[]): Block {
  const all = results.map(({ groups }) => groups[0]);
  const metrics = [...new Set(all.flatMap((own) => Object.keys(own?.metrics ?? {})))];
  const rows = metrics.map((metric) => [
    metricLabel(metric),
    ...all.map((own) => {
      const value = shownValue(own?.metrics ?? {}, metric);
      const interval = own?.intervals[metric];
      const format = metricFormat(metric);
      return [
        strong(orAbsent(value, format)),
        interval != null && ` ${formatInterval(interval, format)}`,
      ];
    }),
  ]);
  const columns = results.map(({ name, series }) => ({
    label: named(series, name),
    align: "right" as const,
  }));
  return {
    kind: "fold",
    title: `All ${metrics.length} metrics as numbers`,
    drawn: true,
    blocks: [table("All metrics", ["metric", ...columns], rows)],
  };
}

/** The warning at the top if results of one dataset have different protocols. */
function unlikeWarning({ dataset, protocols }: OnDataset<DrawnResult>): Block {
  const found = protocolDifferences(protocols.map(({ of: [first] }) => first?.results.protocol));
  const columns = protocols.map(({ fingerprint, of }) => ({
    label: [
      code(fingerprint),
      { text: of.map(({ name }) => name).join(", "), style: "small" as const },
    ],
  }));
  return {
    kind: "warning",
    text: [
      strong(`Not comparable${dataset === null ? "" : ` on ${dataset}`}.`),
      ` These results were measured under ${protocols.length} protocols, so each has tables of its own. A difference between them may come from the settings below instead of from the policy.`,
    ],
    table: table(
      "Differences of the protocols",
      ["Differs in", ...columns],
      found.map(({ key, values }) => [code(key), ...values]),
    ),
  };
}

/** A protocol with its fingerprint and parts, long ones folded; and the measured policies. */
function protocolBlocks(fingerprint: string, of: readonly DrawnResult[]): Block[] {
  const parts = protocolLeaves(of[0]?.results.protocol ?? {});
  const isFolded = ([key]: readonly [string, string]): boolean => /^(environment|prompt)/.test(key);
  return [
    {
      kind: "group",
      className: "card",
      blocks: [
        { kind: "facts", facts: [["Fingerprint", code(fingerprint)]] },
        ...of.flatMap(({ name, series, results }): Block[] => [
          ...(of.length > 1 ? [{ kind: "heading" as const, text: named(series, name) }] : []),
          {
            kind: "facts",
            facts: protocolLeaves(results.policy).map(([key, value]) => [`policy.${key}`, value]),
          },
        ]),
        { kind: "facts", facts: parts.filter((part) => !isFolded(part)) },
        {
          kind: "fold",
          title: "Environment and prompt",
          drawn: true,
          blocks: [{ kind: "facts", facts: parts.filter(isFolded) }],
        },
      ],
    },
  ];
}

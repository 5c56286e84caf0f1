import { formatCount, formatInterval, orAbsent, plural } from "../../base/format.ts";
import {
  chartedMetrics,
  metricFormat,
  shownValue,
  metricLabel,
} from "../../evaluate/metrics/metric-columns.ts";
import { compareResults, type OnDataset } from "../comparison.ts";
import { failuresOf, type Results } from "../results-schema.ts";
import { runFigures } from "../run-figures.ts";
import { byProtocol } from "../same-protocol.ts";
import { scoreGroups } from "../score-groups.ts";
import type { ReadableResult } from "../viewer/evaluation-items.ts";
import { EVALUATION_SPEC, evaluationItems } from "../viewer/evaluation-items.ts";
import { type HeadlineFigure, headlineFigures } from "./headline-figures.ts";
import type { Made } from "./made.ts";
import { matrixSection } from "./matrix-section.ts";
import { type Content, html, Markup, seriesLabel, tag } from "./markup.ts";
import { failuresText } from "../../evaluate/evaluation-summary.ts";
import { policyLabel } from "../../evaluate/policy-label.ts";
import { pairedDifferences } from "./paired-differences.ts";
import { protocolSection, unlikeBanner } from "./protocol-section.ts";
import { reportPage } from "./report-page.ts";
import { type DrawnResult, endTable, metricTable, scorePanels } from "./score-tables.ts";
import { searchPanels } from "./search-panels.ts";

/**
 * The report of evaluations as one self-contained page, in pieces: scores, ends, search behaviour, protocol, and every trajectory in a
 * viewer. Files are read twice, for the figures and for the viewer; memory holds only numbers and the viewer's list.
 *
 * @param results at least one, with different names. Results of different protocols are separated and marked.
 * @param across parts of the protocol in which results may differ on purpose.
 * @throws {DataError} FILE_MISSING when the package was not built.
 */
export async function* evaluationPage(
  results: readonly ReadableResult[],
  made: Made,
  across: readonly string[] = [],
): AsyncGenerator<string> {
  const measured = results.map((readable) => ({
    name: readable.files.name,
    results: readable.files.results,
    readable,
  }));
  const { matrix, parts } = compareResults(measured, across);
  const drawn = await withFigures(parts);
  const all = drawn.flatMap(drawnOf);
  // Datasets, and protocols of one dataset, get their own headings in every section with numbers.
  const apart = (draw: (of: readonly DrawnResult[]) => Content): Content =>
    drawn.map(({ dataset, protocols }) => [
      datasetHeading(dataset),
      protocols.map(({ fingerprint, of }) => [
        protocols.length > 1 && protocolHeading(fingerprint),
        draw(of),
      ]),
    ]);
  const paired = new Map<readonly DrawnResult[], Content>();
  for (const { of } of drawn.flatMap((part) => part.protocols))
    paired.set(of, await pairedDifferences(of, across));
  const unlike = drawn.filter(({ protocols }) => protocols.length > 1);
  yield* reportPage({
    kind: "evaluation",
    made,
    title: [...new Set(measured.map((own) => own.results.dataset))].join(", "),
    headlines: headlines(all, matrix !== null),
    warning: unlike.length > 0 ? html`${unlike.map(unlikeBanner)}` : undefined,
    sections: [
      ...(matrix === null ? [] : [matrixSection(matrix)]),
      {
        id: "scores",
        title: "Scores",
        note: scoreNote(all),
        content: apart((of) => [
          matrix === null && headlineFigures(of.map((own) => answer(own, all.length > 1))),
          ...[
            of.length > 1 && legend(of),
            scorePanels(of),
            paired.get(of) ?? null,
            metricTable(of),
          ],
        ]),
      },
      {
        id: "ends",
        title: "How trajectories ended",
        note: "draws by their end",
        content: apart(endTable),
      },
      { id: "search", title: "Search behaviour", content: apart(searchPanels) },
      {
        id: "protocol",
        title: "Protocol",
        note: "all settings of the measurement except the policy",
        content: drawn.map((part) => [
          datasetHeading(part.dataset),
          protocolSection(byProtocol(drawnOf(part))),
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
  });
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

function protocolHeading(fingerprint: string): Markup {
  return html`<h3 class="part-heading">Protocol <code>${fingerprint}</code></h3>`;
}

function datasetHeading(dataset: string | null): Content {
  return dataset !== null && tag("h3", { class: "part-heading" }, dataset);
}

/** EM, large, or the first metric that the result has. */
function answer({ name, series, groups, readable }: DrawnResult, isNamed: boolean): HeadlineFigure {
  const { metrics, n } = readable.files.results;
  const [all] = groups;
  const [metric = "em", ...others] = chartedMetrics(metrics);
  const interval = all?.intervals[metric];
  return {
    series,
    name: isNamed ? name : null,
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
function headlines(drawn: readonly DrawnResult[], isMatrix: boolean): Markup[] {
  const facts = drawn.map((own) => factsOf(own.results, isMatrix));
  const [first = []] = facts;
  const shared = isMatrix ? first.filter((fact) => facts.every((of) => of.includes(fact))) : [];
  const lines = drawn.map(({ name, series, results }, i): Markup | null => {
    const own = (facts[i] ?? []).filter((fact) => !shared.includes(fact)).join(" · ");
    const warnings = warningsOf(results);
    if (own === "" && warnings.length === 0) return null;
    const dataset = isMatrix && ` on ${results.dataset} `;
    return html`<p class="headline">
      ${drawn.length > 1 && html`<b>${seriesLabel(series, name)}</b> `}${dataset}${own}
      ${warnings.map((text) => tag("strong", { class: "badge failed" }, text))}
    </p>`;
  });
  const ofAll = shared.length > 0 && tag("p", { class: "headline" }, shared.join(" · "));
  return [ofAll, ...lines].filter((line) => line instanceof Markup);
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

function warningsOf(results: Results): string[] {
  const failures = failuresOf(results);
  return [
    ...(failures.n > 0 ? [failuresText(failures)] : []),
    ...(results.readsGold ? ["the search uses the gold: a control, not a result"] : []),
  ];
}

function scoreNote(drawn: readonly DrawnResult[]): string {
  const several = drawn.some(({ readable }) => readable.files.results.samplesPerTask > 1);
  return `means over questions${several ? " and their draws" : ""}, lines are 95 % intervals`;
}

function legend(of: readonly DrawnResult[]): Markup {
  const names = of.map(({ name, series }) => tag("li", {}, seriesLabel(series, name)));
  return tag("ul", { class: "legend" }, names);
}

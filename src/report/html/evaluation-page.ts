import { formatCount, formatInterval, orAbsent, plural } from "../../base/format.ts";
import {
  answerHeadlines,
  metricFormat,
  metricLabel,
} from "../../evaluate/metrics/metric-columns.ts";
import { failuresOf } from "../results-schema.ts";
import { runFigures } from "../run-figures.ts";
import { byProtocol } from "../same-protocol.ts";
import { scoreGroups } from "../score-groups.ts";
import type { ReadableResult } from "../viewer/evaluation-items.ts";
import { EVALUATION_SPEC, evaluationItems } from "../viewer/evaluation-items.ts";
import { type HeadlineFigure, headlineFigures } from "./headline-figures.ts";
import type { Made } from "./made.ts";
import { type Content, html, type Markup, seriesLabel, tag } from "./markup.ts";
import { policyLabel } from "../../evaluate/policy-label.ts";
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
  const drawn: DrawnResult[] = [];
  for (const [series, readable] of results.entries()) {
    const { files, goldOf } = readable;
    const [groups, figures] = [await scoreGroups(files), await runFigures(files, goldOf)];
    drawn.push({ name: files.name, series, groups, readable, figures });
  }
  const measured = drawn.map((own) => ({ ...own, results: own.readable.files.results }));
  const protocols = byProtocol(measured, across);
  const unlike = protocols.length > 1;
  // Results of different protocols get their own headings, in every section with numbers.
  const apart = (draw: (of: readonly DrawnResult[]) => Content): Content =>
    protocols.map(({ fingerprint, of }) => [unlike && protocolHeading(fingerprint), draw(of)]);
  const datasets = new Set(drawn.map(({ readable }) => readable.files.results.dataset));
  yield* reportPage({
    ...{ kind: "evaluation", made },
    title: [...datasets].join(", "),
    headlines: drawn.map((own) => headline(own, drawn.length > 1)),
    ...(unlike ? { warning: unlikeBanner(protocols) } : {}),
    sections: [
      {
        ...{ id: "scores", title: "Scores", note: scoreNote(drawn) },
        content: apart((of) => [
          headlineFigures(of.map((own) => answer(own, drawn.length > 1))),
          ...[drawn.length > 1 && legend(of), scorePanels(of), metricTable(of)],
        ]),
      },
      {
        ...{ id: "ends", title: "How trajectories ended", note: "draws by their end" },
        content: apart(endTable),
      },
      { id: "search", title: "Search behaviour", content: apart(searchPanels) },
      {
        ...{ id: "protocol", title: "Protocol" },
        note: "all settings of the measurement except the policy",
        content: protocolSection(byProtocol(measured)),
      },
    ],
    viewer: {
      ...{ id: "trajectories", title: "Trajectories", spec: EVALUATION_SPEC },
      items: evaluationItems(results),
    },
  });
}

function protocolHeading(fingerprint: string): Markup {
  return html`<h3 class="protocol-heading">Protocol <code>${fingerprint}</code></h3>`;
}

/** EM, large, or the first metric that the result has. */
function answer({ name, series, groups, readable }: DrawnResult, isNamed: boolean): HeadlineFigure {
  const { metrics, n } = readable.files.results;
  const [all] = groups;
  const metric = answerHeadlines.find((each) => typeof metrics[each] === "number") ?? "em";
  const interval = all?.intervals[metric];
  const others = answerHeadlines.filter((each) => each !== metric && metrics[each] != null);
  return {
    ...{ series, name: isNamed ? name : null, label: metricLabel(metric) },
    ...{ value: metrics[metric] ?? null, format: metricFormat(metric) },
    details: [
      [
        interval != null && `${formatInterval(interval, metricFormat(metric))} (95 %), `,
        plural(n, "question"),
      ],
      others
        .map((each) => `${metricLabel(each)} ${orAbsent(metrics[each], metricFormat(each))}`)
        .join(" · "),
    ],
  };
}

function headline({ name, series, readable }: DrawnResult, isNamed: boolean): Markup {
  const { results } = readable.files;
  const { n, samplesPerTask, policy, strategy, recipe, seed } = results;
  const failed = failuresOf(results).n;
  const facts = [
    ...(policy.from === undefined ? [] : [`policy ${policyLabel(policy)}`]),
    `strategy ${strategy}`,
    `${formatCount(n)} questions`,
    ...(samplesPerTask > 1 ? [`${samplesPerTask} draws each`] : []),
    ...(recipe === undefined ? [] : [`recipe ${recipe.name} (${recipe.tier})`]),
    `seed ${seed}`,
  ].join(" · ");
  const warnings = [
    ...(failed > 0 ? [`${formatCount(failed)} draws failed: not measured`] : []),
    ...(results.readsGold ? ["the search uses the gold: a control, not a result"] : []),
  ];
  return html`<p class="headline">
    ${isNamed && html`<b>${seriesLabel(series, name)}</b> `}${facts}
    ${warnings.map((text) => tag("strong", { class: "badge failed" }, text))}
  </p>`;
}

function scoreNote(drawn: readonly DrawnResult[]): string {
  const several = drawn.some(({ readable }) => readable.files.results.samplesPerTask > 1);
  return `means over questions${several ? " and their draws" : ""}, lines are 95 % intervals`;
}

function legend(of: readonly DrawnResult[]): Markup {
  const names = of.map(({ name, series }) => tag("li", {}, seriesLabel(series, name)));
  return tag("ul", { class: "legend" }, names);
}

import { failuresOf } from "../results-schema.ts";
import { runFigures } from "../run-figures.ts";
import { byProtocol } from "../same-protocol.ts";
import { scoreGroups } from "../score-groups.ts";
import type { ReadableResult } from "../viewer/evaluation-items.ts";
import { EVALUATION_SPEC, evaluationItems } from "../viewer/evaluation-items.ts";
import { embedded, viewerFrame } from "../viewer/embed.ts";
import { browserScript } from "./browser-script.ts";
import type { DrawnResult } from "./drawn-result.ts";
import { endTable } from "./end-table.ts";
import { type Content, html, type Markup } from "./markup.ts";
import { page } from "./page.ts";
import { protocolSection, unlikeBanner } from "./protocol-section.ts";
import { metricTable, scorePanels, type ScoredResult } from "./score-panels.ts";
import { searchPanels } from "./search-panels.ts";

/**
 * The report of evaluations as one self-contained page, in pieces: scores, ends, search behaviour, protocol, and every trajectory in a
 * viewer. Files are read twice, once for the figures and once for the viewer; nothing but numbers and the viewer's list is held.
 *
 * @param results at least one, names unlike. Results of unlike protocols are set apart and marked.
 * @throws {DataError} FILE_MISSING when the package was not built.
 */
export async function* evaluationPage(results: readonly ReadableResult[]): AsyncGenerator<string> {
  const drawn: DrawnResult[] = [];
  for (const [series, readable] of results.entries()) {
    const { files, goldOf } = readable;
    const [groups, figures] = [await scoreGroups(files), await runFigures(files, goldOf)];
    drawn.push({ name: files.name, series, groups, readable, figures });
  }
  const script = await browserScript();
  yield* page({ title: `Evaluation: ${titleOf(drawn)}`, script }, bodyOf(drawn));
}

async function* bodyOf(drawn: readonly DrawnResult[]): AsyncGenerator<string> {
  const protocols = byProtocol(
    drawn.map((own) => ({ ...own, results: own.readable.files.results })),
  );
  const unlike = protocols.length > 1;
  yield html`<a class="skip" href="#trajectories">To the trajectories</a>
    <header class="top">
      <div class="inner">
        <p class="kicker">agentrl evaluation</p>
        <h1>${titleOf(drawn)}</h1>
        ${drawn.map(headline)}
      </div>
    </header>
    <nav class="sections" aria-label="Sections">
      <div class="inner">
        <a href="#scores">Scores</a><a href="#ends">Ends</a><a href="#search">Search</a
        ><a href="#protocol">Protocol</a><a href="#trajectories">Trajectories</a>
      </div>
    </nav> `.text;
  yield "<main>\n";
  if (unlike) yield unlikeBanner(protocols).text;
  // What was not measured alike stands under headings of its own, in every section that shows numbers.
  const apart = (draw: (of: readonly DrawnResult[]) => Content): Markup[] =>
    protocols.map(
      ({ fingerprint, of }) => html`${unlike && protocolHeading(fingerprint)}${draw(of)}`,
    );
  yield section(
    "scores",
    "Scores",
    scoreNote(drawn),
    apart((of) => [drawn.length > 1 && legend(of), scorePanels(of), metricTable(of)]),
  );
  yield section("ends", "How trajectories ended", "draws by their end", apart(endTable));
  yield section("search", "Search behaviour", null, apart(searchPanels));
  yield section(
    "protocol",
    "Protocol",
    "everything under which it was measured, apart from the policy",
    [protocolSection(protocols)],
  );
  yield section("trajectories", "Trajectories", null, [viewerFrame(EVALUATION_SPEC)]);
  yield "</main>\n";
  yield* embedded(EVALUATION_SPEC, evaluationItems(drawn.map(({ readable }) => readable)));
}

function protocolHeading(fingerprint: string): Markup {
  return html`<h3 class="protocol-heading">Protocol <code>${fingerprint}</code></h3>`;
}

function section(
  id: string,
  title: string,
  note: string | null,
  content: readonly Markup[],
): string {
  return html`<section id="${id}" class="part-${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}${note !== null && html` <span>${note}</span>`}</h2>
    ${content}
  </section> `.text;
}

function titleOf(drawn: readonly DrawnResult[]): string {
  const datasets = new Set(drawn.map(({ readable }) => readable.files.results.dataset));
  return [...datasets].join(", ");
}

function headline(
  { name, series, readable }: DrawnResult,
  _: number,
  all: readonly unknown[],
): Markup {
  const { results } = readable.files;
  const { n, samplesPerTask, policy, strategy, recipe, seed } = results;
  const failed = failuresOf(results).n;
  const facts = [
    ...(policy.from === undefined ? [] : [`policy ${policy.from}`]),
    `strategy ${strategy}`,
    `${n.toLocaleString("en")} questions`,
    ...(samplesPerTask > 1 ? [`${samplesPerTask} draws each`] : []),
    ...(recipe === undefined ? [] : [`recipe ${recipe.name} (${recipe.tier})`]),
    `seed ${seed}`,
  ];
  return html`<p class="headline">
    ${all.length > 1 && html`<b><span class="key s${series % 6}"></span>${name}</b> `}${facts.join(" · ")}${failed > 0 && html` <strong class="badge failed">${failed.toLocaleString("en")} draws failed: not measured</strong>`}${results.readsGold && html` <strong class="badge failed">the search looks at the gold: a control, no result</strong>`}
  </p>`;
}

function scoreNote(drawn: readonly DrawnResult[]): string {
  const several = drawn.some(({ readable }) => readable.files.results.samplesPerTask > 1);
  return `means over questions${several ? " and their draws" : ""}, lines are 95 % intervals`;
}

function legend(of: readonly ScoredResult[]): Markup {
  return html`<ul class="legend">
    ${of.map(({ name, series }) => html`<li><span class="key s${series % 6}"></span>${name}</li>`)}
  </ul>`;
}

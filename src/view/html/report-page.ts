import { createHash } from "node:crypto";
import { join } from "node:path";
import { readText } from "../../base/files.ts";
import { packageRoot } from "../../base/package-root.ts";
import { embedded, type ItemSpec, viewerFrame, type ViewerItem } from "../viewer/embed.ts";
import { type Content, html, type Markup } from "./markup.ts";
import { type Made, madeLine } from "./made.ts";
import { ATLAS_STYLE } from "./atlas-style.ts";
import { CURVE_STYLE } from "./curve-style.ts";
import { BASE_STYLE } from "./style.ts";

const STYLE = BASE_STYLE + CURVE_STYLE + ATLAS_STYLE;

/** A part of a report under a heading. */
export interface ReportSection {
  id: string;
  title: string;
  /** Small print after the title. */
  note?: string | null;
  content: Content;
}

/** Everything that a report shows. */
export interface Report {
  /** Kind of report: "evaluation". */
  kind: string;
  title: string;
  /** A line for each reported result. */
  headlines: readonly Markup[];
  /** Command, version and day of the page. */
  made: Made;
  /** A warning before everything else. */
  warning?: Markup;
  sections: readonly ReportSection[];
  /** Last section: the viewer; null: nothing to browse. */
  viewer: (Omit<ReportSection, "content"> & ViewerContent) | null;
  /** Whether sections have interactive curves. */
  hasCurves?: true;
  /** Whether the page has the filter of the atlas. */
  hasAtlas?: true;
}

interface ViewerContent {
  spec: ItemSpec;
  items: AsyncIterable<ViewerItem>;
}

/**
 * A report as one self-contained page, in pieces: it loads nothing from any address. Its content security policy allows only the one script
 * and the one style with the given hashes, so that text that became markup by mistake could do nothing.
 *
 * @throws {DataError} FILE_MISSING when the package was not built.
 */
export async function* reportPage(report: Report): AsyncGenerator<string> {
  const { kind, title, hasCurves, hasAtlas, viewer } = report;
  const script = await browserScript([
    ...(hasCurves === true ? (["curves"] as const) : []),
    ...(hasAtlas === true ? (["atlas"] as const) : []),
    ...(viewer === null ? [] : (["viewer"] as const)),
  ]);
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hashOf(script)}'`,
    `style-src 'sha256-${hashOf(STYLE)}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  // In pieces, because the hashed text must be between its tags byte for byte.
  yield [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    html`<title>${title} · agentrl ${kind}</title>`.text,
    '<link rel="icon" href="data:,">',
    `<style>${STYLE}</style>`,
    "</head>",
    "<body>\n",
  ].join("\n");
  yield* body(report);
  yield `<script>${script}</script>\n</body>\n</html>\n`;
}

async function* body(report: Report): AsyncGenerator<string> {
  const { kind, title, headlines, made, warning, viewer } = report;
  const sections = [
    ...report.sections,
    ...(viewer === null ? [] : [{ ...viewer, content: viewerFrame(viewer.spec) }]),
  ];
  const last = sections.at(-1);
  yield html`<a class="skip" href="#${last?.id ?? ""}">To ${last?.title ?? ""}</a>
    <header class="top">
      <div class="inner">
        <p class="kicker">agentrl ${kind}</p>
        <h1>${title}</h1>
        ${headlines} ${madeLine(made)}
      </div>
    </header>
    <nav class="sections" aria-label="Sections">
      <div class="inner">
        ${sections.map(({ id, title: name }) => html`<a href="#${id}">${name}</a>`)}
      </div>
    </nav> `.text;
  yield "<main>\n";
  if (warning !== undefined) yield warning.text;
  for (const { id, title: name, note = null, content } of sections) {
    yield html`<section id="${id}" class="part-${id}" aria-labelledby="${id}-title">
      <h2 id="${id}-title">${name}${note !== null && html` <span>${note}</span>`}</h2>
      ${content}
    </section> `.text;
  }
  yield "</main>\n";
  if (viewer !== null) yield* embedded(viewer.spec, viewer.items);
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

/** Interactive parts of a page, each with its modules in import order. */
const PARTS = {
  viewer: [
    ...["elements", "../../base/escape-reg-exp", "viewer-data", "filter", "list-view"],
    ...["detail-view", "beside", "viewer"],
  ],
  curves: ["elements", "../../base/format", "curves"],
  atlas: ["elements", "atlas"],
} as const;

/**
 * The browser's code as one script: the compiled modules joined, without imports and `export`, inside one function. No bundler is needed;
 * the modules share one scope, so two equal top-level names would be a syntax error.
 *
 * @throws {DataError} FILE_MISSING when the package was not built.
 */
async function browserScript(parts: readonly (keyof typeof PARTS)[]): Promise<string> {
  const folder = join(packageRoot, "dist", "report", "browser");
  const modules = [...new Set(parts.flatMap((part) => PARTS[part]))];
  const texts = await Promise.all(
    modules.map(async (name) => {
      const text = await readText(join(folder, `${name}.js`));
      return text
        .replace(/^import .*;\n/gm, "")
        .replace(/^export (?=async |function |const )/gm, "");
    }),
  );
  return `(() => {\n"use strict";\n${texts.join("")}})();\n`;
}

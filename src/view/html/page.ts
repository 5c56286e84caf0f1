import { createHash } from "node:crypto";
import { join } from "node:path";
import { readText } from "../../base/files.ts";
import { packageRoot } from "../../base/package-root.ts";
import type { Document, Made } from "../document.ts";
import { embedded, viewerFrame } from "../viewer/embed.ts";
import { drawn, inline } from "./draw.ts";
import { html, tag } from "./markup.ts";
import { ATLAS_STYLE, BASE_STYLE, CURVE_STYLE } from "./style.ts";

const STYLE = BASE_STYLE + CURVE_STYLE + ATLAS_STYLE;

/**
 * A report as one self-contained page, in pieces: it loads nothing from any address. Its content security policy allows only the one script
 * and the one style with the given hashes, so that text that became markup by mistake could do nothing.
 *
 * @throws {DataError} FILE_MISSING when the package was not built.
 */
export async function* documentPage(document: Document, made: Made): AsyncGenerator<string> {
  const { kind, title, sections, viewer } = document;
  const has = (of: "curves" | "filter"): boolean =>
    sections.some(({ blocks }) => blocks.some((block) => block.kind === of));
  const script = await browserScript([
    ...(has("curves") ? (["curves"] as const) : []),
    ...(has("filter") ? (["atlas"] as const) : []),
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
  yield* body(document, made);
  yield `<script>${script}</script>\n</body>\n</html>\n`;
}

async function* body(document: Document, made: Made): AsyncGenerator<string> {
  const { kind, title, lead, warnings = [], viewer } = document;
  const sections = [
    ...document.sections.map(({ blocks, ...own }) => ({ ...own, content: drawn(blocks) })),
    ...(viewer === null ? [] : [{ ...viewer, content: viewerFrame(viewer.spec) }]),
  ];
  const last = sections.at(-1);
  yield html`<a class="skip" href="#${last?.id ?? ""}">To ${last?.title ?? ""}</a>
    <header class="top">
      <div class="inner">
        <p class="kicker">agentrl ${kind}</p>
        <h1>${title}</h1>
        ${lead.map((line) => tag("p", { class: "headline" }, inline(line)))}
        <p class="made">${made.date} · agentrl ${made.version} · <code>${made.command}</code></p>
      </div>
    </header>
    <nav class="sections" aria-label="Sections">
      <div class="inner">
        ${sections.map(({ id, title: name }) => html`<a href="#${id}">${name}</a>`)}
      </div>
    </nav> `.text;
  yield "<main>\n";
  yield html`${drawn(warnings)}`.text;
  for (const { id, title: name, note = null, content } of sections)
    yield html`<section id="${id}" class="part-${id}" aria-labelledby="${id}-title">
      <h2 id="${id}-title">${name}${note !== null && html` <span>${note}</span>`}</h2>
      ${content}
    </section> `.text;
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
  const folder = join(packageRoot, "dist", "view", "browser");
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

import { createHash } from "node:crypto";
import { html } from "./markup.ts";
import { STYLE } from "./style.ts";

/** A report's frame. */
export interface PageFrame {
  title: string;
  /** Run at the end of the page. */
  script: string;
  /** Beside the style of all reports. */
  style?: string;
}

/**
 * A self-contained page as pieces: no address in it is ever asked for. Its policy (CSP) runs the one script and the one style that are hashed
 * in it and nothing else, so that even text that slipped through as markup could do nothing.
 *
 * @param body pieces of HTML.
 */
export async function* page(
  { title, script, style = "" }: PageFrame,
  body: AsyncIterable<string>,
): AsyncGenerator<string> {
  const styles = STYLE + style;
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hashOf(script)}'`,
    `style-src 'sha256-${hashOf(styles)}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  // Piece by piece: what is hashed must stand between its tags to the byte.
  yield [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    html`<title>${title}</title>`.text,
    '<link rel="icon" href="data:,">',
    `<style>${styles}</style>`,
    "</head>",
    "<body>\n",
  ].join("\n");
  yield* body;
  yield `<script>${script}</script>\n</body>\n</html>\n`;
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

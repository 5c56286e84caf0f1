/** HTML that is ready: everything that came from data in it is escaped. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** What may stand in `html`: text is escaped, markup is not, lists are joined, null and false are nothing. */
export type Content = string | number | Markup | null | false | readonly Content[];

/**
 * The one way to write HTML here: what is put in is escaped, so text of a model or dataset can never become markup.
 * Safe in text and in double-quoted attributes.
 *
 * @example html`<b>${"<i>"}</b>`.text // "<b>&lt;i&gt;</b>"
 */
export function html(strings: TemplateStringsArray, ...contents: Content[]): Markup {
  return new Markup(
    strings.map((string, i) => (i === 0 ? "" : written(contents[i - 1] ?? null)) + string).join(""),
  );
}

function written(content: Content): string {
  if (content === null || content === false) return "";
  if (content instanceof Markup) return content.text;
  if (typeof content === "string" || typeof content === "number")
    return escapeHtml(String(content));
  return content.map(written).join("");
}

/** JSON for a `<script type="application/json">`: no `<` is left that could end it. */
export function jsonScript(id: string, value: unknown): Markup {
  const json = JSON.stringify(value).replaceAll("<", "\\u003c");
  return new Markup(`<script type="application/json" id="${escapeHtml(id)}">${json}</script>\n`);
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
}

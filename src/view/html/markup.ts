/** Finished HTML: all data in it is escaped. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Content of `html`: text is escaped, markup is not, lists are joined, null and false are nothing. */
export type Content = string | number | Markup | null | false | readonly Content[];

/**
 * Writes HTML: inserted values are escaped, so text of a model or dataset never becomes markup. Safe in text and in double-quoted
 * attributes.
 *
 * @example html`<b>${"<i>"}</b>`.text // "<b>&lt;i&gt;</b>"
 */
export function html(strings: TemplateStringsArray, ...contents: Content[]): Markup {
  return new Markup(
    strings.map((string, i) => (i === 0 ? "" : written(contents[i - 1] ?? null)) + string).join(""),
  );
}

/** Attributes of an element; null and false are left out. */
export type Attributes = Readonly<Record<string, string | number | null | false>>;

/**
 * An element with its end tag, as `html` would write it.
 * @param name and the names of attributes are the code's own: they are not escaped.
 * @example tag("td", { class: "number" }, 0.5).text // '<td class="number">0.5</td>'
 */
export function tag(name: string, attributes: Attributes, ...children: Content[]): Markup {
  const given = Object.entries(attributes).map(([key, value]) =>
    value === null || value === false ? "" : ` ${key}="${escapeHtml(String(value))}"`,
  );
  return new Markup(`<${name}${given.join("")}>${written(children)}</${name}>`);
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

/** Number of colours; later series repeat them with another shape. */
const COLOURS = 6;

/** CSS classes of a series, from 0. @example seriesClass(7) // "s1 again" */
export function seriesClass(series: number): string {
  return `s${series % COLOURS}${series >= COLOURS ? " again" : ""}`;
}

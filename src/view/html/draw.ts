/** The pen of pages: blocks as HTML. */
import { ABSENT, formatInterval, orAbsent } from "../../base/format.ts";
import { curvePlot } from "../charts/curve.ts";
import { dotWhisker, shareBar, tickLabels, yieldBar } from "../charts/marks.ts";
import {
  type Block,
  type Cell,
  type Column,
  type Figure,
  type Inline,
  plainText,
  type RowGroup,
  type Styled,
  type Table,
} from "../document.ts";
import { alignOf, isInterval } from "../terminal.ts";
import { type Content, html, type Markup, seriesClass, tag } from "./markup.ts";
import { curveControls, curveNote, curvePart } from "./run-curves.ts";

/** Blocks in a page. */
export function drawn(blocks: readonly Block[]): Content {
  return blocks.map(drawnBlock);
}

function drawnBlock(block: Block): Content {
  switch (block.kind) {
    case "heading":
      return tag("h3", { class: block.level === 2 && "part-heading" }, inline(block.text));
    case "text":
      return tag("p", { class: "statement" }, inline(block.text));
    case "note":
      return tag("p", { class: "note" }, inline(block.text));
    case "warning":
      return tag(
        "aside",
        { class: "banner", role: "alert" },
        tag("p", {}, inline(block.text)),
        block.table !== undefined && tag("div", { class: "wide" }, drawnTable(block.table)),
      );
    case "list":
      return tag(
        "ul",
        { class: "notes" },
        block.items.map((each) => tag("li", {}, inline(each))),
      );
    case "facts":
      return tag(
        "dl",
        { class: "pairs" },
        block.facts.map(([label, value]) =>
          tag(
            "div",
            {},
            tag("dt", {}, label),
            tag("dd", {}, inline(value === "" ? "(empty)" : value)),
          ),
        ),
      );
    case "figures":
      return tag("div", { class: "answers" }, block.figures.map(figureCard));
    case "table":
      return card(drawnTable(block));
    case "curves":
      return [
        curveControls(block.parts),
        block.parts.flatMap(curvePart),
        tag("p", { class: "note" }, curveNote(block.parts)),
      ];
    case "curve":
      return html`<figure class="curve band-range">
        <figcaption><b>${block.panel.spec.title}</b> <span>${block.remark}</span></figcaption>
        ${curvePlot(block.panel.curves, block.marks ?? [], block.frame)}
      </figure>`;
    case "fold":
      return tag(
        "details",
        { class: "further" },
        tag("summary", {}, block.title),
        drawn(block.blocks),
      );
    case "group":
      return tag(
        "div",
        { class: block.className, id: block.id ?? null, ...dataOf(block) },
        drawn(block.blocks),
      );
    case "filter":
      return html`<form class="atlas-filter" aria-label="Filter">
        ${block.choices.map(
          ([id, label, values]) =>
            html`<label
              >${label}
              <select id="${id}" aria-label="${label}">
                <option value="">all</option>
                ${values.map((value) => tag("option", { value }, value))}
              </select></label
            > `,
        )}<output id="atlas-count" aria-live="polite">${block.count}</output>
      </form>`;
    case "command":
      return tag("p", { class: "note" }, `${block.does}: `, tag("code", {}, block.command));
  }
}

/** Text with its styles. */
export function inline(text: Inline): Content {
  if (text === null || text === false || typeof text === "string")
    return text === false ? null : text;
  if (!("text" in text)) return text.map(inline);
  const content = inline(text.text);
  const { style, series, href, hint = null } = text;
  const own = { class: style, title: hint, ...dataOf(text) };
  const shown =
    style === "strong"
      ? tag("b", {}, content)
      : style === "small"
        ? html` <small>${content}</small>`
        : style === "code"
          ? tag("code", { title: hint }, plainText(text.text))
          : style === "plain"
            ? content
            : tag(
                "span",
                { ...own, class: style === "badge" ? "badge" : `badge ${TONES[style] ?? style}` },
                content,
              );
  const key = series !== undefined && tag("span", { class: `key ${seriesClass(series)}` });
  return href === undefined ? [key, shown] : tag("a", { href }, key, shown);
}

const TONES: Readonly<Record<string, string>> = {
  good: "right",
  bad: "wrong",
  note: "partly",
  trouble: "failed",
};

function dataOf({ data = {} }: Pick<Styled, "data">): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [`data-${key}`, value]));
}

/** A box that scrolls sideways if its table is wider than the page. */
function card(content: Content): Markup {
  return html`<div class="card"><div class="wide">${content}</div></div> `;
}

function figureCard({ name, series, value, format, tone, label, details }: Figure): Markup {
  const isWord = typeof value === "string";
  const shown = typeof value === "number" && format ? orAbsent(value, format) : (value ?? ABSENT);
  return tag(
    "div",
    { class: `card answer ${series === undefined ? "" : seriesClass(series)}` },
    plainText(name) !== "" && tag("h3", {}, inline(name)),
    tag(
      "p",
      {
        class: `big ${isWord ? "badge-text" : ""} ${tone === undefined ? "" : (TONES[tone] ?? "")}`,
      },
      shown,
      !isWord && tag("span", {}, " ", inline(label)),
    ),
    isWord && plainText(label) !== "" && tag("p", {}, inline(label)),
    details.filter((each) => plainText(each) !== "").map((each) => tag("p", {}, inline(each))),
  );
}

/** Number of columns from which a phone shows each row as a list, because a table would not fit. */
const STACKED_COLUMNS = 4;

/** A table: headings with their scope, numbers on the right. */
function drawnTable(table: Table): Markup {
  const { caption, titled, className = "plain", columns, groups } = table;
  const shown = columns.map((column) => (typeof column === "string" ? { label: column } : column));
  const stacks = shown.length >= STACKED_COLUMNS ? " stacks" : "";
  const heads = shown.map((column) =>
    tag(
      "th",
      { scope: "col", class: classOf(column) },
      column.axis === undefined
        ? inline(column.label)
        : [
            tickLabels(column.axis),
            tag("span", { class: "unseen" }, plainText(column.label) || "chart"),
          ],
    ),
  );
  return tag(
    "table",
    { class: className + stacks },
    tag("caption", { class: titled === true ? null : "unseen" }, caption),
    shown.length > 0 && tag("thead", {}, tag("tr", {}, heads)),
    groups.filter(({ rows }) => rows.length > 0).map((group) => groupBody(group, shown)),
  );
}

function groupBody({ title, side, rows }: RowGroup, columns: readonly Column[]): Content {
  const first = side === undefined ? 0 : 1;
  const body = rows.map((row, i) => {
    const head =
      side === undefined
        ? tag("th", { scope: "row" }, cellContent(row[0], columns[0] ?? { label: "" }))
        : i === 0 && tag("th", { scope: "rowgroup", rowspan: rows.length }, inline(side));
    const cells = row.slice(1 - first).map((cell, at) => {
      const column = columns[at + 1] ?? { label: "" };
      const attributes = { class: classOf(column), "data-label": plainText(column.label) };
      // On a phone the label is beside all of the content.
      return tag("td", attributes, tag("div", {}, cellContent(cell, column)));
    });
    return tag("tr", {}, head, cells);
  });
  const heading =
    title !== undefined &&
    tag(
      "tr",
      { class: "group" },
      tag("th", { colspan: columns.length, scope: "rowgroup" }, tag("span", {}, inline(title))),
    );
  return tag("tbody", {}, heading, body);
}

function cellContent(cell: Cell, { format = String, axis }: Column): Content {
  if (cell === undefined) return null;
  if (cell === null) return ABSENT;
  if (typeof cell === "number") return orAbsent(cell, format);
  if (cell === false || typeof cell === "string") return cell;
  if (isInterval(cell)) return formatInterval(cell, format);
  if ("dots" in cell) return axis !== undefined && cell.dots.map((each) => dotWhisker(each, axis));
  if ("share" in cell) return shareBar(cell.share, cell.series);
  if ("yield" in cell) return yieldBar(cell.yield, 0);
  if (!("value" in cell)) return inline(cell);
  const { value, interval, remark, tone } = cell;
  return [
    tag("b", { class: tone ? (TONES[tone] ?? null) : null }, orAbsent(value, format)),
    interval != null && html` <small>${formatInterval(interval, format)}</small>`,
    plainText(remark ?? "") !== "" && html` <small>${inline(remark ?? "")}</small>`,
  ];
}

function classOf(column: Column): string | null {
  const chartClass = column.axis !== undefined || column.drawn === true ? "chart" : null;
  return column.className ?? chartClass ?? (alignOf(column) === "right" ? "number" : null);
}

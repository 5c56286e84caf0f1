/** The pen of Markdown, for pull requests and docs. */
import { renderMarkdown } from "../base/table.ts";
import { type Block, type Document, type Inline, plainText, type Table } from "./document.ts";
import { documentBlocks, figureLine, writtenTable } from "./terminal.ts";

/** A document as Markdown. */
export function documentMarkdown(document: Document): string {
  const [title, ...blocks] = documentBlocks(document);
  return `# ${title?.kind === "heading" ? inlineMarkdown(title.text) : ""}\n\n${blocksMarkdown(blocks)}\n`;
}

/** Blocks, apart by blank lines. @param level of sections' headings. */
export function blocksMarkdown(blocks: readonly Block[], level = 2): string {
  return blocks
    .map((block) => blockMarkdown(block, level))
    .filter((text) => text !== "")
    .join("\n\n");
}

function blockMarkdown(block: Block, level: number): string {
  switch (block.kind) {
    case "heading":
      return `${"#".repeat(level + (block.level ?? 3) - 1)} ${inlineMarkdown(block.text)}`;
    case "text":
    case "note":
      return inlineMarkdown(block.text);
    case "warning":
      return [
        `> **${escaped(plainText(block.text))}**`,
        ...(block.table === undefined ? [] : [tableMarkdown(block.table)]),
      ].join("\n\n");
    case "list":
      return block.items.map((item) => `- ${inlineMarkdown(item)}`).join("\n");
    case "facts":
      return block.facts.map(([label, value]) => `- ${label}: ${inlineMarkdown(value)}`).join("\n");
    case "figures":
      return block.figures
        .map(
          (figure) =>
            `- ${escaped(
              figureLine(figure)
                .map(({ text }) => text)
                .join(""),
            )}`,
        )
        .join("\n");
    case "table":
      return tableMarkdown(block);
    case "fold":
      return block.drawn === true || block.blocks.length === 0
        ? ""
        : `${escaped(block.title)}:\n\n${blocksMarkdown(block.blocks, level)}`;
    case "group":
      return blocksMarkdown(block.blocks, level);
    case "command":
      return `${escaped(block.does)}: \`${block.command}\``;
    case "curves":
    case "curve":
    case "filter":
      return "";
  }
}

function tableMarkdown(table: Table): string {
  const { columns, rows } = writtenTable(table);
  if (rows.length === 0) return "";
  return renderMarkdown({
    columns: columns.map(({ label, align }) => ({ label: inlineMarkdown(label), align })),
    rows: rows.map(({ title, cells }) =>
      title === undefined ? cells.map(inlineMarkdown) : [`**${inlineMarkdown(title)}**`],
    ),
  });
}

function inlineMarkdown(inline: Inline): string {
  if (inline === null || inline === false || inline === "") return "";
  if (typeof inline === "string") return escaped(inline);
  if (!("text" in inline)) return inline.map(inlineMarkdown).join("");
  const text = inlineMarkdown(inline.text);
  switch (inline.style) {
    case "strong":
    case "trouble":
      return `**${text}**`;
    case "code":
      return `\`${plainText(inline.text).replaceAll("`", "'")}\``;
    case "small":
      return ` ${text}`;
    default:
      return text;
  }
}

/** Text on one line, without Markdown; tables escape their own bars. */
function escaped(text: string): string {
  return text.replace(/[\\`*_{}[\]#~]|<(?=[a-z/!])|^>/gi, "\\$&").replace(/\s*\n\s*/g, " ");
}

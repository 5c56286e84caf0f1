import type { Block } from "../view/document.ts";
import { blocksMarkdown } from "../view/markdown.ts";
import type { Printed } from "../view/terminal.ts";

/** Blocks for a terminal, or as Markdown for a pull request. */
export function shown(blocks: readonly Block[], format: "text" | "md"): Printed {
  return format === "md" ? blocksMarkdown(blocks) : blocks;
}

// What the generated pages share.

/** Text for a cell of a table: one line, in which tags are text outside of code too. */
export function oneLine(text) {
  return text
    .replaceAll(/\s+/g, " ")
    .trim()
    .replaceAll("|", "\\|")
    .replaceAll(/(`[^`]*`)|</g, (_, code) => code ?? "&lt;");
}

export function tableOf(heads, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |\n`;
  const rule = `|${heads.map(() => "---").join("|")}|\n`;
  return line(heads) + rule + rows.map(line).join("");
}

/** Columns below which text is not wrapped: each line would hold a word or two. */
const NARROWEST = 20;

/**
 * A text after its label, wrapped at words; further lines are indented by the label's length.
 * @param width columns of the terminal; undefined: one line, for a pipe.
 * @example wrapText("one two", "a  ", 7) // "a  one\n   two"
 */
export function wrapText(text: string, label: string, width = Infinity): string {
  const room = Math.max(width - label.length, NARROWEST);
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > room) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return label + [...lines, line].join(`\n${" ".repeat(label.length)}`);
}

const ABBREVIATION = /(?:^|[\s("'])(?:[A-Z]|[Mm]rs?|Ms|Dr|St|Jr|Sr|Mt|No|vs|e\.g|i\.e|etc)\.$/;

/**
 * Places of the sentences of a text, without the space around them: [from, to), in characters. A sentence ends at a full stop, question or
 * exclamation mark before a space, or at the line's end; not at initials and common abbreviations.
 * @example sentenceSpans("He ran. J. Doe sang.") // [[0, 7], [8, 20]]
 */
export function sentenceSpans(text: string): [from: number, to: number][] {
  const spans: [number, number][] = [];
  const add = (from: number, to: number): void => {
    const written = text.slice(from, to);
    const start = from + written.length - written.trimStart().length;
    const end = from + written.trimEnd().length;
    if (start < end) spans.push([start, end]);
  };
  for (const { index: line, 0: whole } of text.matchAll(/[^\n]+/g)) {
    let from = line;
    for (const { index, 0: mark } of whole.matchAll(/[.!?]["')\]]*(?=\s)/g)) {
      const end = line + index + mark.length;
      if (ABBREVIATION.test(text.slice(from, end))) continue;
      add(from, end);
      from = end;
    }
    add(from, line + whole.length);
  }
  return spans;
}

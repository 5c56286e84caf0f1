const ABBREVIATION = /(?:^|[\s("'])(?:[A-Z]|[Mm]rs?|Ms|Dr|St|Jr|Sr|Mt|No|vs|e\.g|i\.e|etc)\.$/;

/**
 * Sentences of a text, ended by a full stop, question or exclamation mark, or line end; not by initials and common abbreviations.
 * @example sentencesOf("J. Doe was born in St. Ives. He sang.") // ["J. Doe was born in St. Ives.", "He sang."]
 */
export function sentencesOf(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    const sentences: string[] = [];
    let from = 0;
    for (const { index, 0: mark } of line.matchAll(/[.!?]["')\]]*(?=\s)/g)) {
      const end = index + mark.length;
      if (ABBREVIATION.test(line.slice(from, end))) continue;
      sentences.push(line.slice(from, end).trim());
      from = end;
    }
    sentences.push(line.slice(from).trim());
    return sentences.filter((sentence) => sentence !== "");
  });
}

/** The first non-empty line, trimmed; "" if there is none. */
export function firstLine(text: string): string {
  return (
    text
      .split("\n")
      .map((line) => line.trim())
      .find((line) => line !== "") ?? ""
  );
}

/**
 * How the final answer of a text is found.
 * - answer: the last box; without one, the text after "####" or "the answer is"; without these, the whole text
 * - boxed: the last box alone
 * - last-number: the last number alone
 * - any: as answer, but of prose without box and marker the last number
 */
export const EXTRACTIONS = ["answer", "boxed", "last-number", "any"] as const;

export type Extraction = (typeof EXTRACTIONS)[number];

/**
 * The final answer in a text; null where there is none.
 *
 * @example finalAnswer("First \\boxed{3}, then \\boxed{\\frac{1}{2}}.") // "\\frac{1}{2}"
 * @example finalAnswer("Thus the answer is 10.") // "10"
 * @example finalAnswer("She has 4 and buys 3, so 7 in all.", "any") // "7"
 */
export function finalAnswer(text: string, extraction: Extraction = "answer"): string | null {
  if (extraction === "last-number") return lastNumber(text);
  const boxed = lastBox(text);
  if (boxed !== null || extraction === "boxed") return boxed;
  const marked = afterMarker(text);
  if (marked !== null) return marked;
  return (extraction === "any" && isProse(text) ? lastNumber(text) : null) ?? text;
}

/** The content of the last box with balanced braces. */
function lastBox(text: string): string | null {
  const starts = [...text.matchAll(/\\f?boxed\s*\{/g)].slice(-MAX_BOXES).reverse();
  for (const { index, 0: opening } of starts) {
    const from = index + opening.length;
    const end = closingBrace(text, from);
    if (end !== null) return text.slice(from, end).trim();
  }
  return null;
}

/** Boxes that are tried from the end, so that unbalanced braces cost time in proportion to the text. */
const MAX_BOXES = 8;

/** The place of the brace that closes the one before `from`. Escaped braces are text. */
function closingBrace(text: string, from: number): number | null {
  let depth = 1;
  for (let i = from; i < text.length; i++) {
    if (text[i] === "\\") i += 1;
    else if (text[i] === "{") depth += 1;
    else if (text[i] === "}" && --depth === 0) return i;
  }
  return null;
}

function afterMarker(text: string): string | null {
  const last = [...text.matchAll(/####|\banswer\s*(?:is|:)\s*:?/gi)].at(-1);
  if (last === undefined) return null;
  const line = text.slice(last.index + last[0].length).split("\n", 1)[0] ?? "";
  // The sentence ends at a point that no digit follows, or at a comma before a word.
  const sentence = line.split(/\.(?=\s|$)|,\s+(?=[a-z]{2})/, 1)[0] ?? "";
  const answer = sentence.replace(/^[\s*]+|[\s*]+$/g, "");
  return answer === "" ? null : answer;
}

function lastNumber(text: string): string | null {
  const found = [...text.matchAll(/-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:\/\d+)?%?/g)].at(-1);
  if (found === undefined) return null;
  // The minus of "60-5" is no sign.
  const isDifference = found[0].startsWith("-") && /[\w)]$/.test(text.slice(0, found.index));
  return isDifference ? found[0].slice(1) : found[0];
}

/** At least three words of three letters that are no LaTeX commands. */
function isProse(text: string): boolean {
  return [...text.matchAll(/(?<![\\\p{L}])\p{L}{3,}/gu)].length >= 3;
}

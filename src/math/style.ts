/** What changes how an answer looks, and not what it is. */

const WRAPPER = "\\\\(?:text|textbf|textrm|mathrm|mathbf|mbox|rm)";
const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/[−–]/g, "-"],
  [/[×⋅·]/g, "\\cdot "],
  [/π/g, "\\pi "],
  [/∞/g, "\\infty "],
  [/√/g, "\\sqrt "],
  [/≤/g, "<="],
  [/≥/g, ">="],
  [/±/g, "\\pm "],
  [/°/g, "^\\circ "],
  [/²/g, "^2"],
  [/³/g, "^3"],
  [/∪/g, "\\cup "],
  [/\*\*/g, "^"],
  [/[.,]$/, ""],
  [/^\$|\$$|\\\$|\$(?=\d)|\\displaystyle(?![a-z])/g, ""],
  [/^\\f?boxed\s*\{(.*)\}$/s, "$1"],
  [/\\(?:left|right|[bB]igg?[lr]?)(?![a-z])\s*/g, ""],
  [/\{,\}|,\\!/g, ","],
  [/(?<!\\)\\[,!;: ]|\\q?quad(?![a-z])|~/g, " "],
  [/\\(?:text|mbox)\s*\{\s*(?:and|or)\s*\}|\s(?:and|or)\s/g, ","],
  [new RegExp(`^${WRAPPER}\\s*\\{([^{}]*)\\}$`), "$1"],
  [/\\[lr]?vert(?![a-z])|\\mid(?![a-z])/g, "|"],
  [/(\d)[eE]([+-]?\d{1,4})(?!\d)/g, "$1*10^{$2}"],
  // A mixed number without LaTeX.
  [/(?<![\d.)}\]])(\d+) (\d+)\/(\d+)/g, "($1+$2/$3)"],
];

/** One spelling of signs, without spacing commands, sizes, currencies and what stands around the whole. */
export function withoutStyle(text: string): string {
  return REPLACEMENTS.reduce(
    (plain, [pattern, replacement]) => plain.replace(pattern, replacement).trim(),
    text.trim(),
  );
}

const POWER = "(?:\\^\\{?\\d\\}?)?";
const UNIT = new RegExp(
  `\\s*${WRAPPER}\\s*\\{[^{}]*\\}${POWER}$` +
    `|(?<=[\\d}])\\s*(?:[ckm]m|kg|mph|km\\/h|ft|in|lbs?|oz|ml|min|[a-z]{4,}(?: [a-z]+){0,4})${POWER}$`,
  "i",
);
const DEGREES = /^([^a-z]*|\\[dt]?frac[^a-z]*)\^\s*(?:\\circ|\{\s*\\circ\s*\})$/;

/** An amount without its unit. Degrees within a function stay. @example withoutUnit("5\\text{ cm}^2") // "5" */
export function withoutUnit(text: string): string {
  const unit = UNIT.exec(text);
  return text
    .slice(0, unit === null || unit.index === 0 ? undefined : unit.index)
    .replace(DEGREES, "$1");
}

/** A text as words: lower-case, without commands for style, braces and brackets around the whole. */
export function wordsOf(text: string): string {
  const plain = text.replace(new RegExp(`${WRAPPER}(?![a-z])|[{}$\\\\]`, "g"), " ").toLowerCase();
  return plain
    .replace(/\s+/g, " ")
    .trim()
    .replace(/^\((.*)\)$/, "$1");
}

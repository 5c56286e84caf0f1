import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../src/base/package-root.ts";

export const tutorialPage = readFileSync(join(packageRoot, "docs", "start.md"), "utf8");

/** The page's first code block of a language. */
export function tutorialFile(language: "js" | "yaml"): string {
  return new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "s").exec(tutorialPage)?.[1] ?? "";
}

/** Commands of the page, and what the page shows of the output of all of them; null: nothing. */
export interface TutorialStep {
  commands: string[];
  output: string | null;
}

const CALL = /^ *npx agentrl /;

/** Every command of the page in its order: of code blocks, of the text, and those that shown outputs recommend. */
export function tutorialSteps(): TutorialStep[] {
  const steps: TutorialStep[] = [];
  let awaits = false;
  for (const [, language, block, inline] of tutorialPage.matchAll(
    /```(\w*)\n(.*?)```|`(npx agentrl [^`]+)`/gs,
  )) {
    if (inline !== undefined) steps.push({ commands: [inline], output: null });
    else if (language === "" && CALL.test(block!)) {
      const commands = block!.replaceAll("\\\n", " ").trim().split("\n");
      steps.push({ commands, output: null });
      awaits = true;
    } else if (language === "" && awaits) {
      awaits = false;
      steps.at(-1)!.output = block!;
      const next = block!.split("\n").filter((line) => CALL.test(line));
      steps.push(...next.map((line) => ({ commands: [line.trim()], output: null })));
    }
  }
  return steps;
}

/**
 * How far a number may lie from the page's, for each number of a line or for all. Results of a training differ in the last bits between
 * processors, and sampling makes more of it. Lines without an entry are the same everywhere.
 */
const TOLERANCES: readonly [RegExp, number | readonly number[]][] = [
  // Step, steps, reward, EM, searches, answered, entropy, KL, flat groups, tokens/s
  [/^\d+\/\d+ /, [0, 0, 0.6, 0.6, 1.5, 0.3, 0.5, 0.1, 1, Infinity]],
  [/^after training: EM/, 0.4],
  [/^EM /, 0.4],
  // A, B, A − B, 95 % interval, p, Holm
  [/^em +\d/, [0.4, 0.4, 0.4, 0.5, 0.5, 1, 1]],
  [/^searches /, 1],
  [/^lint, after step/, [0, 0, 60, 1, Infinity]],
  // Settings changed, settings that the program has: more with each release.
  [/^settings that override/, [0, Infinity]],
  // Two steps with two seeds, so anything; such a line is known by its first word.
  [/^(bonus|plain) /, Infinity],
  [/ tokens, [\d.]+ s$/, [0, 0, 0, Infinity]],
];

const NUMBER = /[+−-]?\d[\d,]*(?:\.\d+)?(?:e[+−-]\d+)?/g;

/** A line's words, without the widths of columns and rules. */
function shape(line: string): string {
  return line.replaceAll(NUMBER, "#").replaceAll(/\s+/g, " ").replaceAll(/─+/g, "─").trim();
}

const numbers = (line: string): number[] =>
  (line.match(NUMBER) ?? []).map((text) => Number(text.replaceAll("−", "-").replaceAll(",", "")));

/** Whether a printed line is the page's, within the tolerances. */
function isSame(shown: string, printed: string): boolean {
  const allowed = TOLERANCES.find(([pattern]) => pattern.test(shown.trim()))?.[1] ?? 0;
  if (allowed === Infinity) return shown.trim().split(" ")[0] === printed.trim().split(" ")[0];
  if (shape(shown) !== shape(printed)) return false;
  const got = numbers(printed);
  return numbers(shown).every((each, i) => {
    const tolerance = typeof allowed === "number" ? allowed : (allowed[i] ?? 0);
    return Math.abs(each - got[i]!) <= tolerance + 1e-9;
  });
}

/** A line of the page that stands for any number of printed lines. */
const isGap = (line: string): boolean => /^(environment +\| +)?…$/.test(line.trim());
/** Written now and then while a command works. */
const isProgress = (line: string): boolean => /^\w[\w ]* \d+\/\d+ \w+, \d/.test(line);

/** The first line of the page that was not printed in its place, with what was printed there; null: all were. */
export function unlikePage(
  shown: string,
  printed: string,
): { page: string; printed: string } | null {
  const lines = printed.split("\n").filter((line) => line.trim() !== "" && !isProgress(line));
  let at = 0;
  let maySkip = false;
  for (const line of shown.split("\n").filter((each) => each.trim() !== "")) {
    if (isGap(line)) {
      maySkip = true;
      continue;
    }
    const found = maySkip
      ? lines.findIndex((each, i) => i >= at && isSame(line, each))
      : isSame(line, lines[at] ?? "")
        ? at
        : -1;
    if (found < 0) return { page: line, printed: lines.slice(at, at + 30).join("\n") };
    at = found + 1;
    maySkip = false;
  }
  if (at < lines.length && !maySkip) return { page: "(end)", printed: lines.slice(at).join("\n") };
  return null;
}

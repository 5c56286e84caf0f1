import { type MeasuredDraw, type Metric, defineMetric } from "./metric.ts";

/**
 * A behaviour of reasoning, counted in the policy's messages by its words.
 *
 * Source: SimpleRL-Zoo, arXiv 2503.18892, whose judge (GPT-4o) says of each response which behaviours it shows. Different here: words of
 * English and of the number world are counted, without a judge; a behaviour in other words is missed, and "the check is 20 dollars"
 * counts. Subgoals and enumeration have no words of their own, so they are left out; calculation is ours.
 *
 * @example verification of "3 + 4 = 7. Check: 3 + 4 = 8. No, it is 8.": 1; backtracking 1, calculation 2
 */
function behaviour(name: string, words: RegExp, summary: string): Metric {
  return defineMetric({
    name,
    summary,
    source: "SimpleRL-Zoo, arXiv 2503.18892, by words instead of a judge",
    range: [0, Infinity],
    score: (draw) => said(draw).reduce((sum, text) => sum + [...text.matchAll(words)].length, 0),
  });
}

function said({ trajectory: { turns } }: MeasuredDraw): string[] {
  return turns.filter(({ chain }) => chain === undefined).map(({ text }) => text);
}

export const verification = behaviour(
  "verification",
  /\b(?:re-?|double-?)?(?:check(?:s|ed|ing)?|verif(?:y|ies|ied|ying|ication))\b/gi,
  "How often the policy writes that it checks a result.",
);

export const backtracking = behaviour(
  "backtracking",
  /\bwait\b|\bno, |\bmistake\b|\balternatively\b|\bis (?:wrong|incorrect|not right)\b|\btry (?:again|another)\b/gi,
  "How often the policy takes something back: it waits, denies, or tries again.",
);

export const calculation = behaviour(
  "calculation",
  /=\s*-?\d/g,
  "How often the policy writes an equals sign and a number.",
);

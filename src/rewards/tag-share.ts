import { mean } from "../base/statistics.ts";
import { z } from "../base/schema.ts";
import { blockPattern } from "./block-texts.ts";
import { defineReward } from "./reward.ts";

const options = z.strictObject({
  /** Tags that a message has one after the other; a list stands for any one of its tags. */
  fields: z
    .array(z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]))
    .min(1)
    .default(["think", ["search", "answer"]]),
  /** form: fields, beginning and end of each message. pairs: one opening and one closing tag of each that occurs. */
  measure: z.enum(["form", "pairs"]).default("form"),
});

/**
 * Partial credit for tags, the mean over the policy's messages. form: .4 of the share of fields that are present, where one at least is closed, .2 where
 * it begins with the first field, .2 where it ends with the last, and .2 that every message gets. pairs: of every tag that occurs,
 * 1 − |opening tags − 1| and 1 − |closing tags − 1|, as a mean, and at least 0 over all messages; a message without tags has 0.
 *
 * Source: the two format rewards of arXiv 2505.11821, each weighted by .2: the XMLParser of verifiers, on which SiliangZeng/Multi-Turn-RL-Agent builds. What every message
 * gets is meant for spacing; its test there cannot fail.
 *
 * @example fields think and search or answer, "<think>a</think>": form .4 · 1/2 + .2 + .2 = .6, pairs 1
 */
export const tagShare = defineReward({
  name: "tag-share",
  summary: "Partial credit for the tags of each message, as a mean over messages.",
  range: [0, 1],
  source: "arXiv 2505.11821; willccbb/verifiers, XMLParser",
  options,
  score: ({ trajectory: { turns } }, { fields, measure }) => {
    const sets = fields.map((field) => [field].flat());
    const texts = turns.filter(({ chain }) => chain === undefined).map(({ text }) => text);
    if (texts.length === 0) return 0;
    if (measure === "form") return mean(texts.map((text) => formOf(text.trim(), sets)));
    return Math.max(0, mean(texts.map((text) => pairsOf(text, sets.flat()))));
  },
});

function formOf(text: string, fields: readonly string[][]): number {
  const isClosed = (tag: string): boolean => new RegExp(blockPattern(tag), "s").test(text);
  const occurs = (tag: string): boolean => countOf(text, tag).some((count) => count > 0);
  const present = fields.filter((tags) => tags.some(occurs)).length / fields.length;
  const begins = fields[0]?.some((tag) => text.startsWith(`<${tag}>`)) === true;
  const ends = fields.at(-1)?.some((tag) => text.endsWith(`</${tag}>`)) === true;
  const hasField = fields.flat().some(isClosed);
  return 0.4 * (hasField ? present : 0) + 0.2 * Number(begins) + 0.2 * Number(ends) + 0.2;
}

function pairsOf(text: string, tags: readonly string[]): number {
  const counts = tags.map((tag) => countOf(text, tag)).filter(([open, close]) => open + close > 0);
  if (counts.length === 0) return 0;
  return mean(counts.flat().map((count) => 1 - Math.abs(count - 1)));
}

/** How often a tag opens and closes. */
function countOf(text: string, tag: string): [open: number, close: number] {
  return [text.split(`<${tag}>`).length - 1, text.split(`</${tag}>`).length - 1];
}

import { z } from "../base/schema.ts";
import { tfIdfCosines } from "../text/tf-idf.ts";
import { type ShownPassage, passagesIn } from "../trajectory/passages.ts";
import type { Passage } from "../trajectory/task.ts";
import { isSearch } from "../trajectory/trajectory.ts";
import { defineReward } from "./reward.ts";

const options = z.strictObject({
  /** Weight of what a search adds: how much closer its passages come to the gold ones. */
  gain: z.number().min(0).max(1).default(1),
  /** Weight of what it repeats: the share of its passages that were shown before. */
  redundancy: z.number().min(0).max(1).default(1),
});

/**
 * What each turn's searches are worth: gain − redundancy, at that turn. Of each gold passage the reward remembers the greatest similarity m of any
 * passage shown so far (0 at the beginning). A turn whose passages come as close as c gains the mean over gold passages of max(c − m, 0). Its
 * redundancy is the share of its passages that were shown before, in an earlier search or higher up. Similarity is the TF-IDF cosine of
 * the texts; a gold passage shown whole has 1.
 *
 * Gold passages are read from the task's own passages (`annotations.context`): HotpotQA, 2WikiMultihopQA and MuSiQue have them, the tiny
 * world with `distractors: 1`. A task without the text of its gold passages cannot be scored.
 *
 * Source: StepSearch, arXiv 2505.15107, section 3.3; `step_information_gain` of its code. The paper multiplies by .6. The code adds .6 times the
 * values to a tensor that holds them already, so that its weight is 1.6. Different here: a title counts as text of its passage on neither
 * side, but passages cut to a budget are compared as they were shown; the code gives an answer followed by text no step reward.
 *
 * @example two gold passages; the first search shows one of them and another passage that is like nothing, the second search shows the same two: .5, −1
 */
export const searchGain = defineReward({
  name: "search-gain",
  summary: "Per turn: how much closer its passages come to the gold ones, less what it repeats.",
  range: [-1, 1],
  source: "StepSearch, arXiv 2505.15107, information gain and redundancy penalty",
  placed: true,
  options,
  score: ({ trajectory: { turns }, task: { annotations } }, { gain, redundancy }) => {
    const gold = goldTexts(annotations.supportingPassages ?? [], annotations.context ?? []);
    if (gold === null) return null;
    let closest = gold.map(() => 0);
    const seen = new Set<string>();
    return turns.flatMap(({ observations }, turn) => {
      const searches = observations.filter(isSearch);
      if (searches.length === 0) return [];
      const shown = searches.flatMap(passagesIn);
      const before = closest;
      closest = closer(before, shown, gold);
      const added = closest.reduce((sum, now, i) => sum + now - (before[i] ?? 0), 0) / gold.length;
      const repeated = shown.filter(({ id }) => seen.has(id) || !seen.add(id)).length;
      return [{ turn, value: gain * added - (redundancy * repeated) / Math.max(1, shown.length) }];
    });
  },
});

/** The texts of the gold passages; null where there is none, or the task lacks one. */
function goldTexts(ids: readonly string[], context: readonly Passage[]): string[] | null {
  const texts = [...new Set(ids)].map((id) => context.find((each) => each.id === id)?.text);
  const known = texts.filter((text) => text !== undefined);
  return known.length === 0 || known.length < texts.length ? null : known;
}

/** The greatest similarity with each gold passage so far, [gold]. */
function closer(
  before: readonly number[],
  shown: readonly ShownPassage[],
  gold: readonly string[],
): number[] {
  const similarities = shown.map(({ text }) => tfIdfCosines(bodyOf(text), gold));
  return before.map((most, i) => Math.max(most, ...similarities.map((each) => each[i] ?? 0)));
}

/** A passage as a search shows it, without its title: `(Title: Oslo) Oslo is a city.` Titles may have parentheses of their own. */
function bodyOf(text: string): string {
  return text.replace(/^\(Title: .*?\) /, "");
}

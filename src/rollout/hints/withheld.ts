import { z } from "../../base/schema.ts";
import type { Task } from "../../trajectory/task.ts";
import { defineHint } from "./hint.ts";
import { drawText, filled, hintText, textsOf } from "./hint-text.ts";

const options = z.strictObject({
  /**
   * {titles}: of the passages that answer the question. {answer}: its first reference. {questions}: the steps that lead there.
   * {question}: itself. A question of which something named is not known gets no hint.
   */
  text: hintText("Passages that help: {titles}.\n"),
});

/** What of it is gold. */
const GOLD = /\{(?:titles|answer|questions)\}/;

/**
 * The policy reads more than whoever learns from its trajectory will: in the record it stands apart from the prompt, and is left out
 * wherever rows are made. Nothing keeps the policy from repeating it; gates of synthesis look for that.
 */
export const withheld = defineHint({
  name: "withheld",
  summary: "The policy reads a help after its prompt that is never learned from.",
  where: "after the first prompt, outside of what is learned",
  source:
    "STaR, arXiv 2203.14465: rationalization, where the hint is the answer; which help is told is an option here",
  options,
  readsGold: ({ text }) => textsOf(text).some((each) => GOLD.test(each)),
  open: ({ text }, random) => ({
    afterPrompt(place) {
      const { task } = place.options;
      return filled(drawText(text, random, { place, firedHere: 0 }), knownOf(task));
    },
  }),
});

function knownOf({ question, references, annotations }: Task): Record<string, string | null> {
  const { supportingFacts, supportingPassages = [], context = [], decomposition } = annotations;
  const gold = new Set(supportingPassages);
  const titles =
    supportingFacts?.map(({ title }) => title) ??
    context.filter(({ id }) => gold.has(id)).map(({ title }) => title);
  const list = (items: readonly string[] = []): string | null =>
    items.length === 0 ? null : [...new Set(items)].join("; ");
  const questions = decomposition?.map((step) => step.question);
  return {
    question,
    titles: list(titles),
    answer: references[0] ?? null,
    questions: list(questions),
  };
}

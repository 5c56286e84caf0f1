import { z } from "../../base/schema.ts";
import type { Task } from "../../trajectory/task.ts";
import { defineHint } from "./hint.ts";
import { drawText, filled, hintText, textsOf } from "./hint-text.ts";

const options = z.strictObject({
  /**
   * {titles}: titles of the gold passages. {answer}: the first reference. {questions}: the steps of the decomposition. {question}: the
   * question. Without a value for each placeholder a question gets no hint.
   */
  text: hintText("Passages that help: {titles}.\n"),
});

/** Placeholders with gold. */
const GOLD = /\{(?:titles|answer|questions)\}/;

/**
 * The policy reads text that training does not see: it is a separate segment of the prompt, which is left out of training rows. The policy
 * may still repeat it; gates of synthesis check that.
 */
export const withheld = defineHint({
  name: "withheld",
  summary: "Adds text after the prompt that the policy reads but training does not.",
  where: "after the first prompt, outside of what is learned",
  source:
    "STaR, arXiv 2203.14465: rationalization, where the hint is the answer; the text is an option here",
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

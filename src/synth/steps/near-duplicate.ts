import { z } from "../../base/schema.ts";
import { seenTexts } from "../overlap/seen-texts.ts";
import { defineStep, sortedOut } from "./define-step.ts";
import { mainTurns, policyText } from "./main-line.ts";

const options = z.strictObject({
  /** Words in a row that are compared. */
  words: z.int().min(1).default(3),
  /** Share of both texts' rows that both have, from which on the later text is dropped. */
  threshold: z.number().gt(0).max(1).default(0.8),
});

/** Looks across all questions, in their order: of two alike the first stays. */
export const nearDuplicate = defineStep({
  name: "near-duplicate",
  kind: "filter",
  summary:
    "Drops what is nearly the same as a sample before it: question and all that the policy wrote.",
  source: "resemblance of word n-grams, Broder 1997",
  options,
  open(settings, { textOf }) {
    const seen = seenTexts(settings);
    return {
      apply: ({ task, candidates }) =>
        sortedOut(candidates, ({ trajectory }) => {
          const turns = mainTurns(trajectory);
          const said = turns.map((turn) => policyText(trajectory, turn, textOf));
          const meets = seen.meets([task.question, ...said].join("\n"));
          return meets && `duplicate: ${meets}`;
        }),
    };
  },
});

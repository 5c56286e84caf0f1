import { z } from "../../base/schema.ts";
import { shingles, wordHashes } from "../overlap/shingles.ts";
import { exactMatch } from "../../text/answers.ts";
import { defineGate } from "./define-step.ts";
import { mainTurns, policyText, shownAfter, shownBefore } from "./main-line.ts";

const options = z.strictObject({
  /**
   * So many words in a row, as they were shown, are a copy; articles are not counted. Names, titles and a quoted clause are shorter: of
   * 625 published traces of R1-Searcher 1 in 5 repeats 16 words, 1 in 20 repeats 24.
   */
  words: z.int().min(4).default(24),
});

/** The question and a right answer may be repeated, however long they are. */
export const noCopiedObservation = defineGate({
  name: "no-copied-observation",
  summary: "Drops messages that repeat long stretches of what their policy was shown.",
  options,
  why({ trajectory }, task, { textOf, settings: { words: n } }) {
    const shown = shownAfter(trajectory, textOf);
    const read = new Set<number>();
    const reads = (text: string): void => {
      for (const shingle of shinglesOf(text, n)) read.add(shingle);
    };
    reads(shownBefore(trajectory));
    const free = new Set(shinglesOf(task.question, n));
    for (const [i, turn] of mainTurns(trajectory).entries()) {
      const answers = turn.actions.filter(
        ({ tool, input }) => tool === "answer" && exactMatch(input, task.references) === 1,
      );
      const text = answers.reduce(
        (left, { input }) => left.replace(input, "\n"),
        policyText(trajectory, turn, textOf),
      );
      if (shinglesOf(text, n).some((shingle) => read.has(shingle) && !free.has(shingle)))
        return "copied";
      reads(shown[i] ?? "");
    }
    return null;
  },
});

function shinglesOf(text: string, n: number): number[] {
  const words = wordHashes(text);
  return words.length < n ? [] : shingles(words, n);
}

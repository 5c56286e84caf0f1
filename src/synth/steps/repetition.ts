import { z } from "../../base/schema.ts";
import { sentencesOf } from "../../rollout/sentences.ts";
import { shingles, wholeHash, wordHashes } from "../overlap/shingles.ts";
import { defineGate } from "./define-step.ts";
import { mainTurns, policyText } from "./main-line.ts";

const options = z.strictObject({
  /** So many words in a row that stood before count as repeated. */
  words: z.int().min(2).default(8),
  /** Share of all such rows that may be repeated. Plans that are said again step by step reach 0.31 (625 traces of R1-Searcher). */
  share: z.number().min(0).max(1).default(0.4),
  /** Times that a sentence of at least `words` words may stand. */
  sentences: z.int().min(1).default(3),
});

/** Too little text to speak of a share. */
const FEWEST_ROWS = 8;

export const repetition = defineGate({
  name: "repetition",
  kind: "filter",
  summary: "Drops messages that go round in circles: sentences, or rows of words, said again.",
  source:
    "START, arXiv 2503.04625, and Tool-Star, arXiv 2505.16410, filter repetition and do not say how; the measure is ours",
  options,
  why({ trajectory }, _task, { textOf, settings: { words: n, share, sentences } }) {
    const texts = mainTurns(trajectory).map((turn) => policyText(trajectory, turn, textOf));
    const said = new Map<number, number>();
    for (const sentence of texts.flatMap(sentencesOf)) {
      const words = wordHashes(sentence);
      if (words.length < n) continue;
      const times = (said.get(wholeHash(words)) ?? 0) + 1;
      if (times > sentences) return "repeated sentence";
      said.set(wholeHash(words), times);
    }
    const rows = texts.flatMap((text) => {
      const words = wordHashes(text);
      return words.length < n ? [] : shingles(words, n);
    });
    if (rows.length < FEWEST_ROWS) return null;
    return 1 - new Set(rows).size / rows.length > share ? "repeated words" : null;
  },
});

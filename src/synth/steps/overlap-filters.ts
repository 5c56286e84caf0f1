import { z } from "../../base/schema.ts";
import { sentencesOf } from "../../rollout/sentences.ts";
import { benchmarkQuestions } from "../overlap/benchmark-questions.ts";
import { seenTexts, shingles, wholeHash, wordHashes } from "../overlap/seen-texts.ts";
import { defineGate, defineStep, mainTurns, policyText, sortedOut } from "./step.ts";

/** With fewer n-grams a share means nothing. */
const FEWEST_ROWS = 8;

export const repetition = defineGate({
  name: "repetition",
  kind: "filter",
  summary: "Drops messages with repeated sentences or word n-grams.",
  source:
    "START, arXiv 2503.04625, and Tool-Star, arXiv 2505.16410, filter repetition without a definition; the measure is ours",
  options: z.strictObject({
    /** Length of the word n-grams that count as repeated. */
    words: z.int().min(2).default(8),
    /** Share of all n-grams that may be repeated. Plans that are repeated step by step reach 0.31 (625 traces of R1-Searcher). */
    share: z.number().min(0).max(1).default(0.4),
    /** How often a sentence of at least `words` words may occur. */
    sentences: z.int().min(1).default(3),
  }),
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

/** Compares all questions, in order: the first of two similar samples stays. */
export const nearDuplicate = defineStep({
  name: "near-duplicate",
  kind: "filter",
  summary:
    "Drops samples that nearly equal an earlier one: question and all that the policy wrote.",
  source: "resemblance of word n-grams, Broder 1997",
  options: z.strictObject({
    /** Length of the compared word n-grams. */
    words: z.int().min(1).default(3),
    /** Jaccard similarity from which the later text is dropped. */
    threshold: z.number().gt(0).max(1).default(0.8),
  }),
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

export const benchmarkOverlap = defineStep({
  name: "benchmark-overlap",
  kind: "filter",
  summary: "Drops questions that equal a benchmark's, word for word or nearly.",
  source:
    "8-gram overlap, Tülu 3, arXiv 2411.15124; names and numbers, and shorter n-grams for short questions, are ours",
  options: z.strictObject({
    /** Files of benchmark questions, in any dataset layout. */
    files: z.array(z.string().min(1)).min(1),
    /** Length of the compared word n-grams; shorter for short questions. */
    words: z.int().min(3).default(8),
    /** Share of a benchmark question's n-grams that counts as an overlap. */
    share: z.number().gt(0).max(1).default(0.5),
  }),
  async open({ files, ...settings }) {
    const benchmark = await benchmarkQuestions(files, settings);
    return {
      apply({ task, candidates }) {
        const meets = benchmark.meets(task.question);
        if (meets === null) return { kept: candidates, dropped: [] };
        const reason = `benchmark: ${meets}`;
        return { kept: [], dropped: candidates.map(({ id }) => ({ id, reason })) };
      },
    };
  },
});

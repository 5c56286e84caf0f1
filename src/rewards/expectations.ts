/** One way of answering that a reward is tested on. */
interface CheckedCase {
  /** What the script writes. */
  readonly summary: string;
  /** Whether the script uses the reference. What a case without it earns is earned without knowing the answer. */
  readonly knows: boolean;
}

/** The cases of `agentrl reward check`. Each is played through the real environment and protocol. */
export const REWARD_CASES = {
  golden: { knows: true, summary: "an accepted answer, as a good policy gives it" },
  "golden-after-search": { knows: true, summary: "a search, then an accepted answer" },
  silent: { knows: false, summary: "nothing at all, in every turn" },
  "empty-answer": { knows: false, summary: "an answer without text" },
  garbled: { knows: false, summary: "an answer of letters at random" },
  wrong: { knows: false, summary: "an answer that shares no word with the accepted ones" },
  "tag-spam": { knows: false, summary: "the protocol's tags many times over, empty and unclosed" },
  "prompt-echo": { knows: false, summary: "the whole prompt again" },
  "question-as-answer": { knows: false, summary: "the question as the answer" },
  "answer-in-observation": {
    knows: false,
    summary: "a search that shows the accepted answer, and no answer",
  },
  "answer-in-think": { knows: true, summary: "the accepted answer in a thought, and no answer" },
  "tag-in-think": { knows: true, summary: "the answer's own tags within a thought" },
  "unclosed-tag": { knows: true, summary: "the accepted answer in a tag that is not closed" },
  "two-answers": { knows: true, summary: "a wrong answer, then the accepted one" },
  alternatives: { knows: true, summary: "a wrong answer or the accepted one, in one answer" },
  candidates: { knows: true, summary: "the answers of all questions listed in one answer" },
  repeated: { knows: true, summary: "the accepted answer four times in one answer" },
  "very-long": { knows: true, summary: "the accepted answer before a thousand other words" },
  unicode: { knows: true, summary: "the accepted answer with an invisible sign in every word" },
} as const satisfies Record<string, CheckedCase>;

export type RewardCase = keyof typeof REWARD_CASES;

/**
 * What a reward should give: exactly a number; a number from `from` up to `below`, exclusive; or as-extracted: as for a golden answer
 * if the protocol extracts the reference, anything if it extracts a text around it, else as for a wrong one. There the protocol decides,
 * and the reward must follow it.
 */
export type Expectation = number | { from: number; below: number } | "as-extracted";

export type RewardExpectations = Readonly<Record<RewardCase, Expectation>>;

/**
 * What a reward of the final answer declares: an accepted answer gives 1, everything else 0, except for the cases named here.
 * @param differing cases in which partial credit is meant.
 */
export function answerExpectations(
  differing: Partial<Record<RewardCase, Expectation>> = {},
): RewardExpectations {
  const cases = Object.keys(REWARD_CASES) as RewardCase[];
  const usual = Object.fromEntries(cases.map((name) => [name, 0])) as Record<RewardCase, number>;
  return {
    ...usual,
    golden: 1,
    "golden-after-search": 1,
    "tag-in-think": "as-extracted",
    "unclosed-tag": "as-extracted",
    "two-answers": "as-extracted",
    ...differing,
  };
}

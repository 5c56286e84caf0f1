/** Rules for tokens: their ids, log-probabilities and owners. */
import { formatMean } from "../../base/format.ts";
import type { Segment, Trajectory } from "../trajectory.ts";
import { isEnd, type LintRule } from "./lint-rule.ts";

interface PlacedSegment {
  segment: Segment;
  /** `calls[1].completion[0]`. */
  where: string;
  part: "prompt" | "completion";
}

function segmentsOf({ calls }: Trajectory): PlacedSegment[] {
  return calls.flatMap((call, index) =>
    (["prompt", "completion"] as const).flatMap((part) =>
      call[part].map((segment, i) => ({ segment, part, where: `calls[${index}].${part}[${i}]` })),
    ),
  );
}

/** One violation per segment: a damaged segment breaks the rule at every token. */
function perSegment(
  trajectory: Trajectory,
  find: (placed: PlacedSegment) => string | null,
): string[] {
  return segmentsOf(trajectory).flatMap((placed) => {
    const found = find(placed);
    return found === null ? [] : [`${placed.where} ${found}`];
  });
}

export const tokenIds: LintRule = {
  name: "token-ids",
  summary: "Ids are whole numbers from 0, below the vocabulary size if that is known.",
  find: (trajectory, { vocabSize }) =>
    perSegment(trajectory, ({ segment: { ids } }) => {
      const limit = vocabSize ?? Infinity;
      const at = ids.findIndex((id) => !Number.isInteger(id) || id < 0 || id >= limit);
      if (at < 0) return null;
      const allowed = vocabSize === null ? "from 0" : `from 0 to ${vocabSize - 1}`;
      return `has ${JSON.stringify(ids[at])} as id ${at}; expected whole numbers ${allowed}.`;
    }),
};

export const textOrIds: LintRule = {
  name: "text-and-ids",
  summary: "A segment holds ids, or text if a server keeps the tokens; never both.",
  find: (trajectory) =>
    perSegment(trajectory, ({ segment: { ids, text } }) =>
      text !== undefined && ids.length > 0
        ? `has a text and ${ids.length} ids; a segment may have only one of them.`
        : null,
    ),
};

export const logprobCount: LintRule = {
  name: "logprob-count",
  summary: "A segment has as many log-probabilities as ids.",
  find: (trajectory) =>
    perSegment(trajectory, ({ segment: { ids, logprobs } }) =>
      logprobs !== null && logprobs.length !== ids.length
        ? `has ${ids.length} ids and ${logprobs.length} log-probabilities.`
        : null,
    ),
};

export const logprobValue: LintRule = {
  name: "logprob-value",
  summary: "Log-probabilities are numbers, and at most 0.",
  find: (trajectory) =>
    perSegment(trajectory, ({ segment: { logprobs } }) => {
      const at = (logprobs ?? []).findIndex((each) => !Number.isFinite(each) || each > 0);
      if (at < 0) return null;
      return `has ${JSON.stringify(logprobs?.[at])} as log-probability ${at}; expected a number up to 0.`;
    }),
};

export const logprobPlace: LintRule = {
  name: "logprob-place",
  summary: "Tokens of the policy, and no others, have log-probabilities.",
  find: (trajectory) =>
    perSegment(trajectory, ({ segment: { owner, ids, logprobs } }) => {
      const sampled = owner === "policy" && ids.length > 0;
      if (sampled && logprobs === null)
        return `has owner policy but no log-probabilities for its ${ids.length} ids.`;
      // An empty list means the same as null.
      if (!sampled && logprobs !== null && logprobs.length > 0)
        return `has owner ${owner}, so no model sampled it here, but it has log-probabilities.`;
      return null;
    }),
};

/** A model may have more ids than its tokenizer: rows of its embedding that are padding. */
const PADDED = 2;

export const logprobGreedy: LintRule = {
  name: "logprob-greedy",
  summary: "At temperature 0 each token is the likeliest, so its probability is at least 1/V.",
  find(trajectory, { temperature, vocabSize }) {
    if (temperature === null || (temperature === 0 && vocabSize === null)) return null;
    if (temperature > 0) return [];
    // The lowest log-probability that the likeliest of V tokens can have.
    const least = -Math.log(PADDED * (vocabSize ?? Infinity));
    return perSegment(trajectory, ({ segment: { logprobs } }) => {
      const at = (logprobs ?? []).findIndex((each) => each < least);
      return at < 0
        ? null
        : `has ${JSON.stringify(logprobs?.[at])} as log-probability ${at}, sampled at temperature 0; the likeliest of ${vocabSize} ids has at least ${formatMean(least)}.`;
    });
  },
};

export const owners: LintRule = {
  name: "owner",
  summary: "A prompt has no policy tokens; a completion has no environment or template tokens.",
  find: (trajectory) =>
    perSegment(trajectory, ({ segment: { owner }, part }) => {
      if (part === "prompt" && owner === "policy")
        return "has owner policy but is in a prompt: training would learn it, though it was not sampled.";
      if (part === "completion" && (owner === "environment" || owner === "template"))
        return `has owner ${owner} but is in a completion, which may hold only policy tokens and inserted hints.`;
      return null;
    }),
};

export const endToken: LintRule = {
  name: "end-token",
  summary: "EOS is the last token of a message, and a message with finish eos has one.",
  find(trajectory, reading) {
    const { endIds } = reading;
    if (endIds === null) return null;
    return trajectory.calls.flatMap(({ completion, finish }, index) => {
      const written = completion.flatMap(({ owner, ids }) =>
        ids.map((id) => ({ id, sampled: owner === "policy" })),
      );
      const at = written.slice(0, -1).findIndex(({ id, sampled }) => sampled && isEnd(id, reading));
      const found: string[] = [];
      if (at >= 0)
        found.push(
          `calls[${index}] continues after EOS: token ${at} of ${written.length} is ${written[at]?.id ?? ""}.`,
        );
      const last = written.at(-1);
      if (finish === "eos" && last !== undefined && endIds.length > 0 && !isEnd(last.id, reading))
        found.push(`calls[${index}] has finish eos, but its last token, ${last.id}, is not EOS.`);
      return found;
    });
  },
};

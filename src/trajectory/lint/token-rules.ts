/** What must hold of tokens: their ids, their log-probabilities, their owners. */
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
      call[part].map((segment, i) => ({
        ...{ segment, part },
        where: `calls[${index}].${part}[${i}]`,
      })),
    ),
  );
}

/** One finding per segment: a damaged one is wrong at every token. */
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
  summary: "Ids are whole numbers from 0, below the size of the vocabulary where that is known.",
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
  summary: "A segment holds ids, or the text of a server that has its tokens; never both.",
  find: (trajectory) =>
    perSegment(trajectory, ({ segment: { ids, text } }) =>
      text !== undefined && ids.length > 0
        ? `has a text and ${ids.length} ids; which of them was learned from cannot be told.`
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
  summary: "Log-probabilities stand where the policy wrote tokens, and nowhere else.",
  find: (trajectory) =>
    perSegment(trajectory, ({ segment: { owner, ids, logprobs } }) => {
      const sampled = owner === "policy" && ids.length > 0;
      if (sampled && logprobs === null)
        return `is the policy's and has no log-probabilities for its ${ids.length} ids.`;
      // An empty list says no more than null.
      if (!sampled && logprobs !== null && logprobs.length > 0)
        return `is no text that a model sampled here (owner ${owner}) and has log-probabilities.`;
      return null;
    }),
};

/** A model may have more ids than its tokenizer: rows of its embedding that are padding. */
const PADDED = 2;

export const logprobGreedy: LintRule = {
  name: "logprob-greedy",
  summary:
    "At temperature 0 the likeliest token is taken: none is less likely than one of V can be.",
  find(trajectory, { temperature, vocabSize }) {
    if (temperature === null || (temperature === 0 && vocabSize === null)) return null;
    if (temperature > 0) return [];
    // What the model gave it, before it was taken for certain.
    const least = -Math.log(PADDED * (vocabSize ?? Infinity));
    return perSegment(trajectory, ({ segment: { logprobs } }) => {
      const at = (logprobs ?? []).findIndex((each) => each < least);
      return at < 0
        ? null
        : `has ${JSON.stringify(logprobs?.[at])} as log-probability ${at}, drawn at temperature 0; the likeliest of ${vocabSize} ids has at least ${least.toFixed(2)}.`;
    });
  },
};

export const owners: LintRule = {
  name: "owner",
  summary:
    "No token of the policy's in a prompt, none of the environment's or template's in a completion.",
  find: (trajectory) =>
    perSegment(trajectory, ({ segment: { owner }, part }) => {
      if (part === "prompt" && owner === "policy")
        return "is the policy's and stands in a prompt: it would be learned, and was not sampled there.";
      if (part === "completion" && (owner === "environment" || owner === "template"))
        return `is the ${owner}'s and stands in a completion, where only the policy writes (and hints are inserted).`;
      return null;
    }),
};

export const endToken: LintRule = {
  name: "end-token",
  summary:
    "An end token of the policy's is its message's last, and a message that ended by itself has one.",
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
          `calls[${index}] goes on after its end token: token ${at} of ${written.length} is ${written[at]?.id ?? ""}.`,
        );
      const last = written.at(-1);
      if (finish === "eos" && last !== undefined && endIds.length > 0 && !isEnd(last.id, reading))
        found.push(
          `calls[${index}] ended by itself (finish eos), and its last token, ${last.id}, is no end token.`,
        );
      return found;
    });
  },
};

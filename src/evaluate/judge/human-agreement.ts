import { type Part, registry } from "../../base/registry.ts";
import { answerScores } from "../metrics/answer-metrics.ts";
import { type Agreement, agreementOf } from "./agreement.ts";
import type { HumanVerdict } from "./human-verdicts.ts";
import type { JudgeCase } from "./judge-case.ts";

/** Something that says of an answer whether it is right, without a model. */
export interface RuleVerdict extends Part {
  accepts(asked: Omit<JudgeCase, "question">): boolean;
}

/** The string metrics as judges: the baselines that a model has to beat. By the "squad" normalisation; token_cover by "words". */
export const ruleVerdicts = registry<RuleVerdict>("rule verdict", [
  {
    name: "em",
    summary: "Equals an accepted answer after normalisation.",
    accepts: (asked) => answerScores(asked).em === 1,
  },
  {
    name: "f1>=0.5",
    summary: "F1 with an accepted answer of at least .5.",
    accepts: (asked) => (answerScores(asked).f1 ?? 0) >= 0.5,
  },
  {
    name: "cover_em",
    summary: "Contains an accepted answer after normalisation.",
    accepts: (asked) => answerScores(asked).cover_em === 1,
  },
  {
    name: "token_cover",
    summary: "Contains every word of an accepted answer.",
    accepts: (asked) => answerScores(asked).token_cover === 1,
  },
]);

/** Agreement of one giver of verdicts with humans. */
export interface HumanAgreement {
  /** Over all systems; intervals draw questions. */
  all: Agreement;
  systems: Record<string, Agreement>;
  /** Answers that it did not evaluate: left out. */
  notEvaluated: number;
}

/**
 * How far verdicts agree with humans', over all and per system.
 *
 * @param given [n] in the order of `humans`; null where there is none.
 * @param options.seed of the bootstrap.
 */
export function humanAgreement(
  humans: readonly HumanVerdict[],
  given: readonly (boolean | null)[],
  options: { seed: number },
): HumanAgreement {
  const pairs = humans.flatMap(({ system, question, human }, i) => {
    const verdict = given[i] ?? null;
    return verdict === null ? [] : [{ system, question, expected: human, given: verdict }];
  });
  const systems = [...new Set(humans.map(({ system }) => system))];
  return {
    all: agreementOf(pairs, options),
    systems: Object.fromEntries(
      systems.map((system) => [
        system,
        agreementOf(
          pairs.filter((pair) => pair.system === system),
          options,
        ),
      ]),
    ),
    notEvaluated: humans.length - pairs.length,
  };
}

import { z } from "../../base/schema.ts";
import type { SampleFacts } from "./selector.ts";
import { type Valued, valuesOf } from "./sample-values.ts";

/** Options of selectors that go by how hard a question is. */
export const difficultyShape = {
  /** Score that is high for what is hard, such as `difficulty`. */
  difficulty: z.string().optional(),
  /** Instead: score that is high for what is easy, such as `pass-rate`. */
  easiness: z.string().optional(),
};

interface DifficultyOptions {
  difficulty?: string | undefined;
  easiness?: string | undefined;
}

/** For `refine`: whether not both are told. */
export function isOneDifficulty({ difficulty, easiness }: DifficultyOptions): boolean {
  return difficulty === undefined || easiness === undefined;
}

/** What a schema says where that is not so. */
export const ONE_DIFFICULTY = "expected either difficulty or easiness";

/**
 * How hard the samples are: a large value is hard. Those of which it is not known are dropped.
 * @param usual what it goes by where the options do not say.
 * @throws as `valuesOf`.
 */
export function difficultiesOf(
  samples: readonly SampleFacts[],
  { difficulty, easiness }: DifficultyOptions,
  { selector, usual }: { selector: string; usual: DifficultyOptions },
): { valued: Valued[]; dropped: { id: string; reason: string }[] } {
  const named =
    difficulty === undefined && easiness === undefined ? usual : { difficulty, easiness };
  if (named.easiness === undefined)
    return valuesOf(samples, { by: named.difficulty ?? "", selector });
  const { valued, dropped } = valuesOf(samples, { by: named.easiness, selector });
  return { valued: valued.map(({ sample, value }) => ({ sample, value: -value })), dropped };
}

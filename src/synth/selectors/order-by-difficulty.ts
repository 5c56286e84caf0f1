import type { Random } from "../../base/random.ts";
import { parseOptions, z } from "../../base/schema.ts";
import { difficultiesOf, difficultyShape, isOneDifficulty, ONE_DIFFICULTY } from "./difficulty.ts";
import type { SampleFacts } from "./selector.ts";

/** Options of both orders; by pass rate where they do not say. */
export const orderOptions = z.strictObject(difficultyShape).refine(isOneDifficulty, ONE_DIFFICULTY);

/** Samples in the order of their difficulty, equal ones as the seed has it; what is not known to be hard or easy is dropped. */
export function orderByDifficulty(
  samples: readonly SampleFacts[],
  given: Record<string, unknown>,
  { selector, first, random }: { selector: string; first: "easiest" | "hardest"; random: Random },
): { kept: SampleFacts[]; dropped: { id: string; reason: string }[] } {
  const settings = parseOptions(orderOptions, given, selector);
  const usual = { easiness: "pass-rate" };
  const { valued, dropped } = difficultiesOf(samples, settings, { selector, usual });
  const sign = first === "easiest" ? 1 : -1;
  const ordered = random.shuffle(valued).sort((a, b) => sign * (a.value - b.value));
  return { kept: ordered.map(({ sample }) => sample), dropped };
}

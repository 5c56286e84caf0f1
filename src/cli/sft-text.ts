import type { SampleFacts } from "../run/train/run-events.ts";

/** Most ids on the line; the run's sft.json has all. */
const NAMED = 3;

/** Counts of a file of samples, and the samples left out. */
export function sampleLines(purpose: string, facts: SampleFacts): string[] {
  const { samples, tokens, learned, file } = facts;
  const leftOut: [string, readonly string[]][] = [
    ["too long", facts.tooLong.map((each) => `${each.id} (${each.tokens} tokens)`)],
    ["nothing in them to learn", facts.nothingToLearn],
    ["of weight 0", facts.weightless],
  ];
  return [
    samples === 0
      ? `${purpose}: no samples in ${file}`
      : `${purpose} ${samples} samples of ${file}: ${tokens} tokens, ${learned} of them learned`,
    ...leftOut.flatMap(([why, ids]) => {
      if (ids.length === 0) return [];
      const more = ids.length > NAMED ? ", …" : "";
      return [`left out, ${why}: ${ids.length} (${ids.slice(0, NAMED).join(", ")}${more})`];
    }),
  ];
}

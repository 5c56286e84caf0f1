import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { pickToken } from "../../../src/engine/local/pick-token.ts";
import golden from "../../golden/sampling.json" with { type: "json" };

// sampling.json: made by sampling.py beside it, with the versions that it names.
const DRAWS = 20_000;

/** What a graph gives: probabilities at a temperature, in float32. */
function softmax(logits: readonly number[], temperature: number): Float32Array {
  const largest = Math.max(...logits);
  const powers = logits.map((each) => Math.exp((each - largest) / temperature));
  const total = powers.reduce((sum, each) => sum + each, 0);
  return Float32Array.from(powers, (each) => each / total);
}

describe("draws under temperature, top-k, top-p and min-p are those of transformers' warpers", () => {
  it.each(golden.cases)(
    "T $temperature, top-k $topK, top-p $topP, min-p $minP",
    ({ support, probabilities, critical, ...options }) => {
      const row = softmax(golden.logits, options.temperature);
      const { temperature, topK, topP, minP } = options;
      const stream = random(JSON.stringify(["warpers", temperature, topK, topP, minP]));
      const counts = row.map(() => 0);
      let apart = 0;
      for (let draw = 0; draw < DRAWS; draw++) {
        const { id, logprob } = pickToken(row, 0, row.length, options, stream);
        counts[id]! += 1;
        apart = Math.max(apart, Math.abs(logprob - Math.log(row[id]!)));
      }
      expect(apart).toBeLessThan(1e-5);
      const drawn = Array.from(counts.keys()).filter((id) => counts[id]! > 0);
      const unlikely = support.filter((_, i) => DRAWS * probabilities[i]! < 10);
      expect([...new Set([...drawn, ...unlikely])].sort((a, b) => a - b)).toEqual(support);
      const chiSquared = support.reduce((sum, id, i) => {
        const expected = DRAWS * probabilities[i]!;
        return sum + (counts[id]! - expected) ** 2 / expected;
      }, 0);
      // The 99 % quantile: p ≥ .01.
      expect(chiSquared).toBeLessThanOrEqual(critical);
    },
  );
});

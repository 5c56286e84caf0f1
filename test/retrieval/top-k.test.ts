import { describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { topK } from "../../src/retrieval/top-k.ts";

describe("topK", () => {
  it("holds what sorting would put first, whatever the order and the ties", () => {
    const draw = random(5);
    for (let round = 0; round < 50; round++) {
      const scores = Array.from({ length: 60 }, () => draw.int(12));
      const k = 1 + draw.int(20);
      const best = topK(k);
      for (const position of draw.shuffle(scores.map((_, i) => i))) {
        best.offer(position, scores[position]!);
      }
      const sorted = scores
        .map((score, position) => ({ position, score }))
        .filter(({ score }) => score > 0)
        .sort((a, b) => b.score - a.score || a.position - b.position);
      expect(best.take()).toEqual(sorted.slice(0, k));
    }
  });

  it("lets everything positive in until it is full, then raises its threshold", () => {
    const best = topK(2);
    best.offer(0, 3);
    expect(best.threshold).toBe(0);
    best.offer(1, 1);
    expect(best.threshold).toBe(1);
    best.offer(2, 2);
    expect(best.threshold).toBe(2);
  });
});

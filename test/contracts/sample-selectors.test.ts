import { describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { sampleSelectors } from "../../src/synth/selectors/index.ts";
import type { SampleFacts } from "../../src/synth/selectors/selector.ts";
import { sampleFacts } from "../helpers/sample-facts.ts";

/** Samples of which some have no score, equal ones among them. */
function samples(count: number): SampleFacts[] {
  const draw = random(5);
  return Array.from({ length: count }, (_, i) =>
    sampleFacts(`${i}`, {
      taskId: `${i >> 1}`,
      type: i % 3 === 0 ? null : "bridge",
      hops: i % 4,
      length: draw.int(50),
      scores: i % 7 === 0 ? {} : { "pass-rate": draw.int(9) / 8, difficulty: draw.next() },
    }),
  );
}

const many = samples(100_000);

describe.each(sampleSelectors.parts.map((part) => [part.name, part] as const))(
  "selector %s",
  (_, part) => {
    const options = part.options.parse(part.example ?? {});
    const select = (of: readonly SampleFacts[], seed = 1) => part.select(of, options, random(seed));

    it("keeps or drops each sample once, with a reason", () => {
      const given = samples(100);
      const { kept, dropped } = select(given);
      const ids = [...kept.map(({ id }) => id), ...dropped.map(({ id }) => id)];
      expect([...ids].sort()).toEqual(given.map(({ id }) => id).sort());
      expect(kept.every((sample) => given.includes(sample))).toBe(true);
      for (const { reason } of dropped) expect(reason).toMatch(/^[a-z][a-z -]+$/);
    });

    it("does the same for the same seed and changes nothing that it is given", () => {
      const given = samples(60);
      const before = structuredClone(given);
      expect(select(given, 3)).toEqual(select(given, 3));
      expect(given).toEqual(before);
    });

    it("keeps nothing of nothing", () => {
      expect(select([])).toEqual({ kept: [], dropped: [] });
    });

    it("goes through a hundred thousand samples", () => {
      const { kept, dropped } = select(many);
      expect(kept.length + dropped.length).toBe(100_000);
    });

    it("says what it does", () => {
      expect(part.summary).toMatch(/\.$/);
    });
  },
);

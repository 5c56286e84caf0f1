import { describe, expect, it } from "vitest";
import { sampleFacts, select } from "../../helpers/sample-facts.ts";

const samples = Array.from({ length: 10 }, (_, i) => sampleFacts(`${i}`));

describe("random-subset", () => {
  it("keeps so many, or a share of them, in the order that they came in", () => {
    const { kept, dropped } = select("random-subset", samples, { count: 4 });
    expect(kept).toHaveLength(4);
    expect(kept).toEqual([...kept].sort());
    expect(dropped).toHaveLength(6);
    expect(select("random-subset", samples, { share: 0.3 }).kept).toHaveLength(3);
    expect(select("random-subset", samples, { share: 0.01 }).kept).toHaveLength(1);
    expect(select("random-subset", samples, { count: 99 }).kept).toHaveLength(10);
  });

  it("draws each sample as often as any other, over seeds", () => {
    const drawn = Array.from({ length: 400 }, (_, seed) => {
      return select("random-subset", samples, { count: 5 }, seed).kept;
    }).flat();
    for (const { id } of samples) {
      // 400 draws at one half: deviation 10.
      expect(Math.abs(drawn.filter((each) => each === id).length - 200)).toBeLessThan(40);
    }
  });

  it.each([{}, { count: 1, share: 0.5 }, { share: 0 }])("refuses %o", (options) => {
    expect(() => select("random-subset", samples, options)).toThrow();
  });
});

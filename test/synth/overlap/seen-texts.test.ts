import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { seenTexts } from "../../../src/synth/overlap/seen-texts.ts";

describe("seen texts", () => {
  it("are met again whatever their case and marks", () => {
    const seen = seenTexts({ words: 3, threshold: 0.8 });
    expect(seen.meets("Where was Ibsen born?")).toBeNull();
    expect(seen.meets("where was IBSEN born")).toBe("exact");
    expect(seen.meets("Where was Grieg born?")).toBeNull();
  });

  it("are near from the threshold on: of 12 rows 10 are in both, 0.833", () => {
    // 12 words are 10 rows of 3; two words more make 12.
    const text = "b c d e f g h i j k l m";
    const longer = `${text} n o`;
    expect(near(text, longer, 0.83)).toBe("near");
    expect(near(text, longer, 0.84)).toBeNull();
  });

  it("are all found that share enough, as comparing each with each finds them", () => {
    const draw = random("texts");
    const words = Array.from({ length: 60 }, (_, i) => `w${i}`);
    const texts = Array.from({ length: 300 }, () => {
      const from = draw.int(20);
      return words.slice(from, from + 12 + draw.int(20)).map((word) => {
        return draw.next() < 0.05 ? draw.pick(words) : word;
      });
    });
    const seen = seenTexts({ words: 2, threshold: 0.6 });
    const kept: Set<string>[] = [];
    for (const text of texts) {
      const rows = new Set(text.slice(1).map((word, i) => `${text[i] ?? ""} ${word}`));
      const isNear = kept.some((other) => {
        const both = [...rows].filter((row) => other.has(row)).length;
        return both / (rows.size + other.size - both) >= 0.6;
      });
      expect(seen.meets(text.join(" ")) !== null).toBe(isNear);
      if (!isNear) kept.push(rows);
    }
    expect(kept.length).toBeGreaterThan(20);
  });

  it("are found at a threshold whose product with the rows is rounded up", () => {
    // 0.55 · 100 is 55.00000000000001: of a hundred rows 45 are new, and 55 are all of the earlier text.
    const words = Array.from({ length: 100 }, (_, i) => `w${i}`);
    const seen = seenTexts({ words: 1, threshold: 0.55 });
    expect(seen.meets(words.slice(0, 55).join(" "))).toBeNull();
    expect(seen.meets(words.join(" "))).toBe("near");
  });

  it("of many words are compared by a sample of them", () => {
    const draw = random("long");
    const text = Array.from({ length: 3000 }, () => `w${draw.int(5000)}`);
    const edited = text.map((word, i) => (i % 60 === 0 ? "x" : word));
    const other = text.map((word, i) => (i % 3 === 0 ? "x" : word));
    expect(near(text.join(" "), edited.join(" "), 0.8)).toBe("near");
    expect(near(text.join(" "), other.join(" "), 0.8)).toBeNull();
  });
});

function near(text: string, other: string, threshold: number): string | null {
  const seen = seenTexts({ words: 3, threshold });
  seen.meets(text);
  return seen.meets(other);
}

import { expect, it } from "vitest";
import { sentenceSpans } from "../../src/text/sentence-spans.ts";

const spansOf = (text: string): string[] =>
  sentenceSpans(text).map(([from, to]) => text.slice(from, to));

it("gives the place of each sentence, without the space around it", () => {
  expect(sentenceSpans("He ran. J. Doe sang.")).toEqual([
    [0, 7],
    [8, 20],
  ]);
  expect(spansOf("  It is 7.5. Really?\n\n Yes (in St. Ives.) No end ")).toEqual([
    ...["It is 7.5.", "Really?"],
    ...["Yes (in St. Ives.)", "No end"],
  ]);
  expect(sentenceSpans(" \n ")).toEqual([]);
});

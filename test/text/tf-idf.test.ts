import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { tfIdfCosines } from "../../src/text/tf-idf.ts";
import { expectClose } from "../helpers/expect-close.ts";

interface Golden {
  cases: { text: string; others: string[]; cosines: number[] }[];
}

const { cases } = JSON.parse(
  await readFile(new URL("../golden/tf-idf.json", import.meta.url), "utf8"),
) as Golden;

describe("tfIdfCosines", () => {
  it.each(cases)("agrees with scikit-learn on $text", ({ text, others, cosines }) => {
    expectClose(tfIdfCosines(text, others), cosines, { atol: 1e-12 });
  });

  it("compares what the squad normalisation leaves, and gives 0 for texts without a word", () => {
    expectClose(tfIdfCosines("The rain, snow!", ["Rain SNOW", ""]), [1, 0]);
    expect(tfIdfCosines("a .", ["rain"])).toEqual([0]);
  });
});

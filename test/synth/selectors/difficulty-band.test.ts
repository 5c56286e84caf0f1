import { describe, expect, it } from "vitest";
import { errorWith } from "../../helpers/error-with.ts";
import { sampleFacts, select } from "../../helpers/sample-facts.ts";

const samples = Array.from({ length: 9 }, (_, right) =>
  sampleFacts(`${right}/8`, { scores: { "pass-rate": right / 8 } }),
);

describe("difficulty-band", () => {
  it("keeps what two to six of eight draws solve where nothing is said", () => {
    expect(select("difficulty-band", samples)).toEqual({
      kept: ["2/8", "3/8", "4/8", "5/8", "6/8"],
      dropped: [
        "0/8: below the band",
        "1/8: below the band",
        "7/8: above the band",
        "8/8: above the band",
      ],
    });
  });

  it("keeps the hardest that are solved at all with both ends at one eighth", () => {
    expect(select("difficulty-band", samples, { from: 0.125, to: 0.125 }).kept).toEqual(["1/8"]);
  });

  it("goes by another score, and drops what lacks it", () => {
    const some = [
      sampleFacts("likely", { scores: { "answer-likelihood": -0.1 } }),
      sampleFacts("unlikely", { scores: { "answer-likelihood": -3 } }),
      sampleFacts("unknown"),
    ];
    const options = { score: "answer-likelihood", from: -1, to: 0 };
    expect(select("difficulty-band", some, options)).toEqual({
      kept: ["likely"],
      dropped: ["unknown: no answer-likelihood", "unlikely: below the band"],
    });
  });

  it("says which scores there are where none is the one it goes by", () => {
    expect(() => select("difficulty-band", samples, { score: "passrate" })).toThrow(
      errorWith("RECIPE_BAD_VALUE", /"passrate".*: pass-rate;/),
    );
    expect(select("difficulty-band", [])).toEqual({ kept: [], dropped: [] });
  });

  it("refuses a band that ends before it begins", () => {
    expect(() => select("difficulty-band", samples, { from: 0.9 })).toThrow("from to be at most");
  });
});

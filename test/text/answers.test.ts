import { describe, expect, it } from "vitest";
import { normalizeAnswer } from "../../src/text/answer-normalizations.ts";
import { coversWords, coverExactMatch, exactMatch, tokenF1 } from "../../src/text/answers.ts";

const tokenCover = (prediction: string, references: string[]): number =>
  coversWords(
    normalizeAnswer(prediction, "words"),
    references.map((reference) => normalizeAnswer(reference, "words")),
  );

describe("normalizeAnswer", () => {
  it("lower-cases, deletes ASCII punctuation, drops articles and squeezes spaces", () => {
    expect(normalizeAnswer("  The U.S.A., an\tisle\u00a0- a St. Louis-Cup! ")).toBe(
      "usa isle st louiscup",
    );
  });

  it("drops articles only as whole words, letters with accents included", () => {
    expect(normalizeAnswer("Ana Thea ça théa a")).toBe("ana thea ça théa");
  });

  it("keeps punctuation outside ASCII", () => {
    expect(normalizeAnswer("1861–65")).toBe("1861–65");
  });

  it("deletes punctuation before it looks for articles", () => {
    expect(normalizeAnswer("a-ha")).toBe("aha");
    expect(normalizeAnswer("a-ha", "words")).toBe("ha");
  });

  it("reads punctuation and underscores as spaces in the words normalisation", () => {
    expect(normalizeAnswer("Acid-house_music’s", "words")).toBe("acid house music s");
  });

  it("reads True and False as yes and no in the words normalisation, without surrounding spaces only", () => {
    expect(normalizeAnswer("True", "words")).toBe("yes");
    expect(normalizeAnswer("False", "words")).toBe("no");
    expect(normalizeAnswer(" False ", "words")).toBe("false");
    expect(normalizeAnswer("True")).toBe("true");
  });
});

describe("exactMatch", () => {
  it("is 1 when any reference is equal after normalisation", () => {
    expect(exactMatch("the Eiffel Tower.", ["La tour Eiffel", "Eiffel tower"])).toBe(1);
  });

  it("is 0 for a part, for more than the reference, and without references", () => {
    expect(exactMatch("Eiffel", ["Eiffel Tower"])).toBe(0);
    expect(exactMatch("Eiffel Tower in Paris", ["Eiffel Tower"])).toBe(0);
    expect(exactMatch("Eiffel", [])).toBe(0);
  });

  it("tells the two normalisations apart on a hyphen", () => {
    expect(exactMatch("acid-house", ["Acid house"])).toBe(0);
    expect(exactMatch("acid-house", ["Acid house"], "words")).toBe(1);
    expect(exactMatch("U.S.", ["US"])).toBe(1);
    expect(exactMatch("U.S.", ["US"], "words")).toBe(0);
  });
});

describe("tokenF1", () => {
  it("is the harmonic mean of precision and recall", () => {
    // shared 2 of 3 predicted and of 2 accepted: 2 · (2/3) · 1 / (2/3 + 1) = 0.8
    expect(tokenF1("Barack Obama senior", ["barack obama"])).toBeCloseTo(0.8, 12);
  });

  it("counts repeated words as often as both sides have them", () => {
    // shared "new" once and "york" once: precision 2/3, recall 2/2
    expect(tokenF1("new new york", ["new york"])).toBeCloseTo(0.8, 12);
  });

  it("takes the best reference", () => {
    expect(tokenF1("red", ["blue", "red car"])).toBeCloseTo(2 / 3, 12);
  });

  it("is 0 when one side is yes, no or noanswer and the other differs", () => {
    expect(tokenF1("no", ["no one"])).toBe(0);
    expect(tokenF1("yes it is", ["yes"])).toBe(0);
    expect(tokenF1("Yes!", ["yes"])).toBe(1);
  });

  it("is 0 for empty answers, as in the official script", () => {
    expect(tokenF1("", ["Paris"])).toBe(0);
    expect(tokenF1("the", ["a"])).toBe(0);
  });
});

describe("coverExactMatch", () => {
  it("is 1 when a normalised reference lies inside the normalised prediction", () => {
    expect(coverExactMatch("It is Paris, France.", ["London", "the Paris"])).toBe(1);
    expect(coverExactMatch("Paris", ["Paris, France"])).toBe(0);
  });

  it("compares characters, not words", () => {
    expect(coverExactMatch("nothing", ["no"])).toBe(1);
  });

  it("does not let a reference without content match everything", () => {
    expect(coverExactMatch("Paris", ["The"])).toBe(0);
    expect(coverExactMatch("", ["The"])).toBe(1);
  });
});

describe("coversWords", () => {
  it("is 1 when every word of a reference occurs in the prediction, in any order", () => {
    expect(tokenCover("Obama, Barack H.", ["Barack Obama"])).toBe(1);
    expect(tokenCover("Obama", ["Barack Obama"])).toBe(0);
  });

  it("compares whole words", () => {
    expect(tokenCover("nothing", ["no"])).toBe(0);
  });

  it("splits hyphens and reads True as yes", () => {
    expect(tokenCover("Band-e-Amir National Park", ["Band-e Amir National Park"])).toBe(1);
    expect(tokenCover("True", ["yes"])).toBe(1);
  });

  it("does not let a reference without content match everything", () => {
    expect(tokenCover("Paris", ["the"])).toBe(0);
  });
});

import { describe, expect, it } from "vitest";
import { analyzers, english, plain } from "../../src/text/analyzer.ts";

describe("english analyzer", () => {
  it("lower-cases, drops accents and stop words, and stems", () => {
    expect(english.analyze("The Beatles' café in Liège was NOT connected")).toEqual([
      "beatl",
      "cafe",
      "lieg",
      "connect",
    ]);
  });

  it("keeps words that names are made of", () => {
    expect(english.analyze("The Who in New York, for us")).toEqual(["who", "new", "york", "us"]);
  });
});

describe("plain analyzer", () => {
  it("keeps doubled letters", () => {
    expect(plain.analyze("book keeper")).toEqual(["book", "keeper"]);
  });

  it("keeps every word as it is", () => {
    expect(plain.analyze("The songs of Übermensch")).toEqual(["the", "songs", "of", "ubermensch"]);
  });

  it("keeps letters of any script", () => {
    expect(plain.analyze("Москва, Αθήνα 東京")).toEqual(["москва", "αθηνα", "東京"]);
  });
});

describe.each(analyzers.parts)("analyzer $name", (analyzer) => {
  it("keeps repetitions, next to each other too", () => {
    const [term] = analyzer.analyze("Duran");
    expect(term).toMatch(/^dur/);
    expect(analyzer.analyze("Duran Duran, Duran")).toEqual([term, term, term]);
    expect(analyzer.analyze(`Duran${" ".repeat(3000)}Duran`)).toEqual([term, term]);
  });

  it("keeps numbers whole, repeated digits too", () => {
    expect(analyzer.analyze("1990 111 1234567")).toEqual(["1990", "111", "1234567"]);
  });

  it("gives the same terms for the same text whatever was analysed before", () => {
    const first = analyzer.analyze("runs runs running");
    analyzer.analyze("running running");
    expect(analyzer.analyze("runs runs running")).toEqual(first);
  });

  it("gives no terms for text without words", () => {
    expect(analyzer.analyze("")).toEqual([]);
    expect(analyzer.analyze(" — … !")).toEqual([]);
  });

  it("drops endless words", () => {
    expect(analyzer.analyze(`x ${"a".repeat(256)} z`)).toEqual(["x", "z"]);
  });
});

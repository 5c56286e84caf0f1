import { describe, expect, it } from "vitest";
import { english } from "../../../src/text/analyzer.ts";
import { RELATIONS } from "../../../src/worlds/tiny/relations.ts";
import { ALIAS_WORDINGS, FILLERS, stepQueries } from "../../../src/worlds/tiny/text.ts";

const terms = (text: string): string[] => [...english.analyze(text.replaceAll(/\{\w+\}/g, " "))];

describe.each(RELATIONS)("each wording's query of $name", ({ subject, wordings }) => {
  const rivals = RELATIONS.filter((relation) => relation.subject === subject);

  it.each(wordings)(
    "$query is one search term of its own statement alone",
    ({ query, statement }) => {
      const [term, ...more] = terms(query);
      expect(term).toBeDefined();
      expect(more).toEqual([]);
      expect(terms(statement)).toContain(term);
      const others = [
        ...rivals.flatMap((relation) => relation.wordings.map((wording) => wording.statement)),
        ...ALIAS_WORDINGS.map((wording) => wording.statement),
      ].filter((other) => other !== statement);
      expect(others.filter((other) => terms(other).includes(term ?? ""))).toEqual([]);
      expect(RELATIONS.filter(({ label }) => terms(label).includes(term ?? ""))).toEqual([]);
      expect(FILLERS.filter((filler) => terms(filler).includes(term ?? ""))).toEqual([]);
    },
  );
});

describe("stepQueries", () => {
  it.each([
    ["birthplace of Aldo Brenn", ["Aldo Brenn comes", "Aldo Brenn grew", "Aldo Brenn native"]],
    [
      "whose employer is Axona Amtek",
      ["Axona Amtek works", "Axona Amtek job", "Axona Amtek staff"],
    ],
    ["real name of Aldo Brenn", ["Aldo Brenn called", "Aldo Brenn known", "Aldo Brenn nickname"]],
    ["shoe size of Aldo Brenn", []],
  ])("finds the fact of %s by its words", (label, queries) => {
    expect(stepQueries(label)).toEqual(queries);
  });
});

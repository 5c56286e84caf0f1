import { Script } from "node:vm";
import { describe, expect, it } from "vitest";
import { sharedVocabulary } from "../../../src/run/vocabulary.ts";
import { openDataset } from "../../../src/worlds/open-dataset.ts";
import { readPuzzle } from "../../../src/worlds/knights/puzzle.ts";
import { errorWith } from "../../helpers/error-with.ts";

const tasks = async (options: Record<string, unknown> = {}) =>
  (await openDataset({ name: "knights-knaves", questions: 60, ...options }, "test")).tasks();

/** A claim as an expression of JavaScript over the people's names. */
function expression(claim: string): string {
  const [, condition, conclusion] = /^if (.*) then (.*)$/.exec(claim) ?? [];
  if (condition !== undefined && conclusion !== undefined)
    return `(!(${expression(condition)}) || (${expression(conclusion)}))`;
  return claim
    .replace("it is not true that ", "!")
    .replace(/(\w+) is a (knight|knave)/g, (_, name: string, kind: string) =>
      kind === "knight" ? `k.${name}` : `(!k.${name})`,
    )
    .replace(" if and only if ", "===")
    .replace(" and ", "&&")
    .replace(" or ", "||");
}

/** All answers to a puzzle, found from its text by other means than the dataset's: sentences become a program, tried on all assignments. */
function answersTo(question: string): string[] {
  const said = [...question.matchAll(/(\w+) says that (.*?)\./g)];
  const names = said.map(([, name = ""]) => name);
  const program = said.map(([, name, claim = ""]) => `k.${name} === (${expression(claim)})`);
  const fits = new Script(`(k) => ${program.join(" && ")}`).runInThisContext() as (
    k: object,
  ) => boolean;
  return Array.from({ length: 2 ** names.length }, (_, code) => code).flatMap((code) => {
    const isKnight = (i: number): boolean => ((code >> i) & 1) === 1;
    if (!fits(Object.fromEntries(names.map((name, i) => [name, isKnight(i)])))) return [];
    return names.map((name, i) => `${name} is a ${isKnight(i) ? "knight" : "knave"}`).join(", ");
  });
}

describe("knights-knaves", () => {
  it.each([3, 4, 5, 6, 7, 8])(
    "has exactly one answer with %d people, recounted from the text",
    async (people) => {
      for (const { question, references, annotations } of await tasks({
        people: [people, people],
      })) {
        expect(answersTo(question)).toEqual(references);
        const steps = annotations.decomposition?.map(({ answer }) => answer) ?? [];
        expect(steps.toSorted()).toEqual(references.join().split(", ").toSorted());
        expect(steps).toHaveLength(people);
      }
    },
  );

  it("gives the same ones for the same seed; splits share no puzzle, by any names", async () => {
    const nameless = ({ question }: { question: string }): string =>
      (readPuzzle(question)?.names ?? []).reduce(
        (text, name, i) => text.replaceAll(name, `#${i}`),
        question,
      );
    const options = { people: [3, 3], questions: 300 };
    const train = await tasks(options);
    expect(await tasks(options)).toEqual(train);
    const seen = new Set(train.map(nameless));
    for (const split of ["dev", "test", "base"])
      expect(
        (await tasks({ ...options, split })).filter((each) => seen.has(nameless(each))),
      ).toEqual([]);
  });

  it("has no word that the shared vocabulary lacks", async () => {
    const known = new Set(sharedVocabulary().words);
    const texts = (await tasks({ people: [8, 8] })).map(({ question }) => question);
    const words = new Set(texts.join(" ").match(/\w+|[^\w\s]/g));
    expect([...words].filter((word) => !known.has(` ${word}`) && !known.has(word))).toEqual([]);
  });

  it("refuses forms that never decide who is who", async () => {
    await expect(tasks({ forms: { is: 1 } })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", /^knights-knaves: .*"is":1/),
    );
  });
});

import { describe, expect, it } from "vitest";
import {
  maskedQuestions,
  type MaskedSettings,
} from "../../../src/synth/questions/masked-questions.ts";
import { sentencesOf, spansOf } from "../../../src/synth/questions/spans.ts";
import { mentionsIn } from "../../../src/text/words.ts";
import type { Passage } from "../../../src/trajectory/task.ts";

const texts = (sentence: string): string[] => spansOf(sentence).map(({ text }) => text);

describe("spansOf", () => {
  it("finds numbers and names, not a single word that begins the sentence", () => {
    expect(texts("In 1875 Grieg moved to Bergen.")).toEqual(["1875", "Grieg", "Bergen"]);
    expect(texts("Edvard Grieg wrote it for 2,500 kroner.")).toEqual(["Edvard Grieg", "2,500"]);
    expect(texts("Der Zug nach Köln-Deutz hielt.")).toEqual(["Der Zug", "Köln-Deutz"]);
    expect(texts("В 1703 году Пётр основал город.")).toEqual(["1703", "Пётр"]);
  });

  it("takes words where letters have one case", () => {
    expect(texts("奥斯陆是挪威的首都")).toContain("挪威");
    expect(texts("ولد محمود درويش في قرية البروة")).toContain("درويش");
  });
});

describe("sentencesOf", () => {
  it("reads the sentences of any script", () => {
    expect(sentencesOf("One is here. Two is there!")).toEqual(["One is here.", "Two is there!"]);
    expect(sentencesOf("一。二。")).toEqual(["一。", "二。"]);
  });
});

const passage = (id: string, text: string): Passage => ({ id, title: id, text });
const CORPUS = [
  passage("a", "The composer Grieg was born in the harbour town of Bergen in 1843."),
  passage("b", "The harbour town of Bergen has seven mountains and much rain all year."),
  passage("c", "The capital of Norway lies at the end of a fjord named after Oslo."),
  passage("d", "Too short, 1999."),
];

const ask = (settings: Partial<MaskedSettings> = {}) =>
  maskedQuestions(
    // eslint-disable-next-line @typescript-eslint/require-await -- a corpus is read asynchronously.
    async function* () {
      yield* CORPUS;
    },
    { limit: 10, seed: 1, hops: 1, ask: "Fill it:", ...settings },
  );

describe("maskedQuestions", () => {
  it("does not ask for what another passage has without its signs, as answers are compared", async () => {
    const corpus = [
      passage("a", "The new release with the number 2.15 came out late that year."),
      passage("b", "There were 215 people in the hall on that one evening alone."),
    ];
    const { tasks } = await maskedQuestions(
      // eslint-disable-next-line @typescript-eslint/require-await -- a corpus is read asynchronously.
      async function* () {
        yield* corpus;
      },
      { limit: 10, seed: 1, hops: 1, ask: "Fill it:" },
    );
    expect(tasks).toEqual([]);
  });

  it("asks for what stands in one passage alone", async () => {
    const { tasks, passages } = await ask();
    expect(passages).toBe(4);
    // Bergen stands in two passages, and the fourth has no sentence of six words.
    expect(new Set(tasks.map(({ annotations }) => annotations.supportingPassages?.[0]))).toEqual(
      new Set(["a", "c"]),
    );
    for (const { question, references, annotations } of tasks) {
      const [answer = ""] = references;
      const having = CORPUS.filter(({ title, text }) => mentionsIn(`${title} ${text}`)(answer));
      expect(having.map(({ id }) => id)).toEqual(annotations.supportingPassages);
      expect(question).toMatch(/^Fill it: .*____/);
      expect(mentionsIn(question)(answer)).toBe(false);
    }
  });

  it("hides a second name, which another passage tells", async () => {
    const { tasks } = await ask({ hops: 2 });
    expect(tasks).toHaveLength(1);
    const [{ question, references, annotations } = tasks[0]!] = tasks;
    expect(annotations).toMatchObject({ hops: 2, supportingPassages: ["b", "a"] });
    expect(["1843", "Grieg"]).toContain(references[0]);
    expect(question).not.toContain("Bergen");
    expect(question).toContain("[1]: The harbour town of [1] has seven mountains");
  });

  it("asks the same for the same seed, and at most so many", async () => {
    expect(await ask()).toEqual(await ask());
    expect((await ask({ limit: 1 })).tasks).toHaveLength(1);
  });
});

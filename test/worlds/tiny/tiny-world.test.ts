import { describe, expect, it } from "vitest";
import { sha256 } from "../../../src/base/files.ts";
import { TINY_WORLD_SPLITS } from "../../../src/worlds/tiny/permutation.ts";
import { tinyWorldVocabulary, tinyWorldWords } from "../../../src/worlds/tiny/text.ts";
import { tinyWorld } from "../../../src/worlds/tiny/tiny-world.ts";
import { errorWith } from "../../helpers/error-with.ts";

const world = tinyWorld({ seed: 7, split: "train", people: 1000 });
const EVERY_KIND = { bridge1: 1, bridge2: 1, bridge3: 1, bridge4: 1, comparison: 1, yesNo: 1 };

describe("passages", () => {
  it("come one per entity: 1.7 for each person", () => {
    expect(world.size).toBe(1700);
    expect([...world.passages()]).toHaveLength(1700);
    expect(new Set([...world.passages()].map(({ title }) => title)).size).toBe(1700);
  });

  it("read like this", () => {
    const texts = [0, 1000, 1250, 1300, 1400, 1650].map((i) => world.passage(i).text);
    expect(texts).toMatchInlineSnapshot(`
      [
        "Fala Torlund is a poet born in 1923. She grew up in Wenzola Gartoft. She is on the staff of Lumula Cogdax. The poet was taught by Vavin Jarberg.",
        "Polbru Burnau is a town within the borders of Lumabria Kaluvald. The town hall is run by Lurik Torgard. It was settled in 1887.",
        "Hilotan Estowold is a region with a parliament in Kortova Lokvad. Its leader is Brivon Grisvik. It entered the maps in 1928.",
        "Lumavo Levdax is a firm at home in Polzola Ilkstrom. The firm was the idea of Gloda Vasvik. The firm took its first order in 1897.",
        "Jadisa Cadirno is a novel composed by Clebor Morquist. Its story happens in Fenbru Umbstrom. It appeared in 1984.",
        "Pogkura Lopzuma is a festival in the streets of Rudpera Garvad. It is run by Salon Branholt. The festival began in 1888.",
      ]
    `);
  });

  it("join their sentences with a space and begin with their title", () => {
    for (const passage of world.passages()) {
      expect(passage.text).toBe(passage.sentences.join(" "));
      expect(passage.text.startsWith(passage.title)).toBe(true);
    }
  });

  it("have 18 to 37 words and signs, 29 on average", () => {
    const lengths = [...world.passages()].map(({ text }) => tinyWorldWords(text).length);
    expect(Math.min(...lengths)).toBeGreaterThanOrEqual(18);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(37);
    expect(lengths.reduce((sum, n) => sum + n, 0) / lengths.length).toBeCloseTo(28.6, 0);
  });

  it("are the same to the byte in every run and on every machine", () => {
    const text = [...world.passages()].map((p) => JSON.stringify(p)).join("\n");
    expect(sha256(text)).toMatchInlineSnapshot(
      `"7365b9c111ff5147030eda81302fd5db02071bb824d6a887a908f1c7e219dd97"`,
    );
  });

  it("differ between seeds of one split", () => {
    const other = tinyWorld({ seed: 8, split: "train", people: 1000 });
    const titles = new Set([...world.passages()].map(({ title }) => title));
    const shared = [...other.passages()].filter(({ title }) => titles.has(title));
    expect(shared.length).toBeLessThan(400);
    const texts = new Set([...world.passages()].map(({ text }) => text));
    expect(shared.filter(({ text }) => texts.has(text))).toEqual([]);
  });

  it("share no title between splits, even of one seed", () => {
    const titles = TINY_WORLD_SPLITS.flatMap((split) =>
      [...tinyWorld({ seed: 7, split, people: 500 }).passages()].map(({ title }) => title),
    );
    expect(new Set(titles).size).toBe(4 * 850);
  });

  it("are asked about with so many answers that the most frequent one scores below .015", () => {
    const mix = { ...EVERY_KIND, bridge1: 50, comparison: 0, yesNo: 0 };
    const counts = new Map<string, number>();
    const tasks = [...world.questions(3000, { mix })];
    for (const { references } of tasks) {
      counts.set(references[0] ?? "", (counts.get(references[0] ?? "") ?? 0) + 1);
    }
    expect(Math.max(...counts.values()) / tasks.length).toBeLessThan(0.015);
  });
});

describe("the vocabulary", () => {
  it("holds 1280 words and signs, without numbers", () => {
    expect(tinyWorldVocabulary()).toHaveLength(1280);
    expect(tinyWorldVocabulary().filter((word) => /\d/.test(word))).toEqual([]);
  });

  it("holds everything that any text says, in worlds of two-word and three-word names", () => {
    const known = new Set(tinyWorldVocabulary());
    const unknown = new Set<string>();
    for (const people of [300, 12_000]) {
      const some = tinyWorld({ seed: 3, split: "base", people });
      const texts = Array.from(
        { length: 510 },
        (_, i) => some.passage(i * Math.floor(some.size / 510)).text,
      );
      for (const task of some.questions(500, { mix: EVERY_KIND })) {
        texts.push(task.question, ...task.references);
        for (const step of task.annotations.decomposition ?? [])
          texts.push(step.question, step.answer);
      }
      const words = texts.flatMap(tinyWorldWords).filter((word) => !/^\d+$/.test(word));
      for (const word of words) if (!known.has(word)) unknown.add(word);
    }
    expect([...unknown]).toEqual([]);
  });
});

describe("questions", () => {
  it("read like this", () => {
    const lines = [...world.questions(12, { mix: EVERY_KIND })].map(
      ({ question, references }) => `${question} ${references.join()}`,
    );
    expect(lines).toMatchInlineSnapshot(`
      [
        "Which town is the capital of the region of the town that hosts Cimbalu Nuztumbo? Marvika Krastrom",
        "Were Mivin Holkamp and Glomir Pelberg born in the same town? yes",
        "Who is governor in the region of the town where the person who taught Sasha Morberg was born? Nara Branvik",
        "Are Hartova Garmund and Istvika Optvad in the same region? no",
        "In which year was the region around the town where the teacher of Hamir Falkamp was born formed? 1982",
        "In which town was the mayor of the town where the teacher of Fava Branberg was born born? Istzola Ilkhaf",
        "In which town was Bela Grismak born? Polmona Ebrvad",
        "Who taught the mayor of the birthplace of the founder of Hydona Amzon? Tedan Dorstad",
        "Which region includes the seat of Orbona Dynplex? Falabria Belamark",
        "In which town was the teacher of Sara Quildak born? Polzola Pranau",
        "When did the employer of Harik Faldak open? 1856",
        "When was Balondo Fadalda published? 1921",
      ]
    `);
  });

  it("are a pure function of their number", () => {
    const again = tinyWorld({ seed: 7, split: "train", people: 1000 });
    expect(again.question(123)).toEqual([...world.questions(200)][123]);
  });

  it("come in the mixture that was asked for", () => {
    const share = (test: (type: string, hops: number) => boolean): number =>
      [...world.questions(2000)].filter(({ annotations: a }) => test(a.type ?? "", a.hops ?? 0))
        .length / 2000;
    expect(share((type, hops) => type === "bridge" && hops === 1)).toBeCloseTo(0.3, 1);
    expect(share((type, hops) => type === "bridge" && hops === 2)).toBeCloseTo(0.4, 1);
    expect(share((type, hops) => type === "bridge" && hops === 3)).toBeCloseTo(0.24, 1);
    expect(share((type, hops) => type === "bridge" && hops === 4)).toBe(0);
    expect(share((type) => type === "comparison")).toBeCloseTo(0.03, 1);
    const only = { ...EVERY_KIND, bridge1: 0, bridge2: 0, bridge3: 0, comparison: 0, yesNo: 0 };
    expect([...world.questions(50, { mix: only })].every((t) => t.annotations.hops === 4)).toBe(
      true,
    );
  });

  it("hardly ever repeat", () => {
    const asked = [...world.questions(1000)].map((task) => task.question);
    expect(new Set(asked).size).toBeGreaterThanOrEqual(995);
  });

  it("have at most 22 words", () => {
    const mix = { ...EVERY_KIND, bridge4: 20 };
    const lengths = [...world.questions(1500, { mix })].map(
      (t) => tinyWorldWords(t.question).length,
    );
    expect(Math.max(...lengths)).toBeLessThanOrEqual(22);
  });

  it("answer yes about as often as no", () => {
    const mix = { bridge1: 0, bridge2: 0, bridge3: 0, bridge4: 0, comparison: 0, yesNo: 1 };
    const yes = [...world.questions(1000, { mix })].filter((t) => t.references[0] === "yes").length;
    expect(yes / 1000).toBeGreaterThan(0.4);
    expect(yes / 1000).toBeLessThan(0.6);
  });

  it("carry their gold passages among look-alikes when a context is asked for", () => {
    for (const task of world.questions(100, { distractors: 10, mix: EVERY_KIND })) {
      const ids = (task.annotations.context ?? []).map(({ id }) => id);
      expect(new Set(ids).size).toBe(10);
      expect(ids).toEqual(expect.arrayContaining(task.annotations.supportingPassages ?? []));
    }
  });

  it("point to the sentence that states each step's answer", () => {
    const sentences = new Map([...world.passages()].map((p) => [p.title, p.sentences]));
    for (const { annotations } of world.questions(300, { mix: EVERY_KIND })) {
      for (const [i, fact] of (annotations.supportingFacts ?? []).entries()) {
        expect(sentences.get(fact.title)?.[fact.sentence]).toContain(
          annotations.decomposition?.[i]?.answer,
        );
      }
    }
  });
});

describe("questions of one relation", () => {
  const nothing = { bridge1: 0, bridge2: 0, bridge3: 0, bridge4: 0, comparison: 0, yesNo: 0 };

  it.each([
    ["bridge2", "person-birthplace", "birthplace"],
    ["comparison", "firm-founded", "opening year"],
    ["yesNo", "town-region", "region"],
  ])("of kind %s ask for %s at last", (kind, relation, label) => {
    const small = tinyWorld({ seed: 2, split: "dev", people: 200 });
    const asked = [
      ...small.questions(30, { mix: { ...nothing, [kind]: 1 }, relations: [relation] }),
    ];
    for (const { annotations } of asked) {
      expect(annotations.decomposition?.at(-1)?.question).toMatch(new RegExp(`^${label} of `));
    }
    expect(new Set(asked.map(({ question }) => question)).size).toBeGreaterThan(25);
  });

  it("are named where there are none of a kind", () => {
    const small = tinyWorld({ seed: 2, split: "dev", people: 200 });
    const none = { mix: { ...nothing, comparison: 1 }, relations: ["person-teacher"] };
    expect(() => small.question(0, none)).toThrow(
      errorWith("TINY_WORLD_TOO_SMALL", "has no comparison question that asks for person-teacher."),
    );
  });
});

describe("bad settings", () => {
  it("names the range of people", () => {
    expect(() => tinyWorld({ seed: 1, split: "dev", people: 1 })).toThrow(
      "tinyworld.people is 1: expected at least 2",
    );
  });

  it("says when a world is too small for a kind of question", () => {
    const hamlet = tinyWorld({ seed: 1, split: "dev", people: 3 });
    const mix = { bridge1: 0, bridge2: 0, bridge3: 0, bridge4: 0, comparison: 1, yesNo: 0 };
    expect(() => hamlet.question(0, { mix })).toThrow(
      errorWith(
        "TINY_WORLD_TOO_SMALL",
        'tinyworld: a world of 3 people has no comparison question. Raise "people" or set mix.comparison to 0.',
      ),
    );
  });

  it("names the passages that there are", () => {
    expect(() => world.passage(1700)).toThrow(
      "tinyworld: passage number is 1700; it must be an integer from 0 to 1699.",
    );
  });

  it("says when the weights leave nothing to ask", () => {
    const mix = { bridge1: 0, bridge2: 0, bridge3: 0, bridge4: 0, comparison: 0, yesNo: 0 };
    expect(() => world.question(0, { mix })).toThrow("at least one weight must be above 0");
  });
});

import { describe, expect, it } from "vitest";
import type { Passage, Task } from "../../../src/trajectory/task.ts";
import { type TinyWorldReport, checkTinyWorld } from "../../../src/worlds/tiny/check.ts";
import { TINY_WORLD_SPLITS } from "../../../src/worlds/tiny/permutation.ts";
import { readPassage, readQuestion } from "../../../src/worlds/tiny/reading.ts";
import { tinyWorld } from "../../../src/worlds/tiny/tiny-world.ts";

const EVERY_KIND = { bridge1: 1, bridge2: 1, bridge3: 1, bridge4: 1, comparison: 1, yesNo: 1 };

describe("the checker", () => {
  it.each([
    [40, 1, 60],
    [300, 2, 500],
    [9000, 3, 300],
  ])("finds nothing in a generated world of %i people", async (people, seed, count) => {
    for (const split of TINY_WORLD_SPLITS.slice(0, people > 1000 ? 1 : 4)) {
      const world = tinyWorld({ seed, split, people });
      const tasks = world.questions(count, { mix: EVERY_KIND });
      const report = await checkTinyWorld(world.passages(), tasks);
      expect(report).toEqual({ passages: world.size, questions: count, problems: [] });
    }
  });

  it("finds nothing in the union of the splits of one seed", async () => {
    const worlds = TINY_WORLD_SPLITS.map((split) => tinyWorld({ seed: 5, split, people: 200 }));
    const report = await checkTinyWorld(
      worlds.flatMap((world) => [...world.passages()]),
      worlds.flatMap((world) => [...world.questions(100)]),
    );
    expect(report).toEqual({ passages: 4 * 340, questions: 400, problems: [] });
  });
});

// Two people, a town and the firm in between, written by hand.
const PASSAGES: Passage[] = [
  passage("p1", "Bera Jardak", "Bera Jardak is a poet born in 1901. She works for Axona Amtek."),
  passage(
    "p2",
    "Axona Amtek",
    "Axona Amtek is a firm based in Barbru Askhaf. It began trading in 1930.",
  ),
  passage(
    "p3",
    "Barbru Askhaf",
    "Barbru Askhaf is a town that lies in Amadur Aramark. It dates from 1877.",
  ),
  passage(
    "p4",
    "Cava Dorvik",
    "Cava Dorvik is a baker born in 1950. She studied under Bera Jardak.",
  ),
];
const CHAIN: Task = {
  id: "q1",
  question: "When was the seat of the employer of Bera Jardak founded?",
  references: ["1877"],
  source: "tinyworld",
  annotations: {
    type: "bridge",
    hops: 3,
    supportingPassages: ["p1", "p2", "p3"],
    supportingFacts: [
      { title: "Bera Jardak", sentence: 1 },
      { title: "Axona Amtek", sentence: 0 },
      { title: "Barbru Askhaf", sentence: 1 },
    ],
    decomposition: [
      { question: "employer of Bera Jardak", answer: "Axona Amtek", passage: "p1" },
      { question: "seat of Axona Amtek", answer: "Barbru Askhaf", passage: "p2" },
      { question: "founding year of Barbru Askhaf", answer: "1877", passage: "p3" },
    ],
  },
};

describe("the checker, on a world with one planted fault,", () => {
  it("finds nothing before a fault is planted", async () => {
    expect((await check(PASSAGES, CHAIN)).problems).toEqual([]);
  });

  it("sees a wrong reference", async () => {
    expect(await codes(PASSAGES, { ...CHAIN, references: ["1878"] })).toEqual(["answer-differs"]);
    expect(await codes(PASSAGES, { ...CHAIN, references: ["1877", "1878"] })).toEqual([
      "answer-differs",
    ]);
  });

  it("sees a gold chain that says something else than the text", async () => {
    const annotations = { ...CHAIN.annotations, supportingPassages: ["p1", "p3", "p2"] };
    expect(await codes(PASSAGES, { ...CHAIN, annotations })).toEqual(["gold-differs"]);
    const hops = { ...CHAIN.annotations, hops: 2 };
    expect(await codes(PASSAGES, { ...CHAIN, annotations: hops })).toEqual(["gold-differs"]);
  });

  it("sees a fact that no passage states", async () => {
    const cut = replaced("p2", (text) =>
      text.replace("Axona Amtek is a firm based in Barbru Askhaf. ", ""),
    );
    expect(await codes(cut, CHAIN)).toEqual(["chain-broken"]);
    expect(await codes(PASSAGES.slice(0, 2), CHAIN)).toEqual(["chain-broken"]);
  });

  it("sees a fact that was changed in the text", async () => {
    const changed = replaced("p3", (text) => text.replace("1877", "1878"));
    expect(await codes(changed, CHAIN)).toEqual(["gold-differs", "answer-differs"]);
  });

  it("sees a fact that a second passage states", async () => {
    const twin = passage("p9", "Axona Amtek", "Axona Amtek is a firm based in Corona Vada.");
    expect(await codes([...PASSAGES, twin], CHAIN)).toEqual(["fact-twice"]);
  });

  it("sees a fact stated in another's passage, or twice, or not readable", async () => {
    const foreign = replaced("p4", (text) => `${text} Bera Jardak is a poet born in 1902.`);
    expect(await codes(foreign, CHAIN)).toEqual(["passage-unreadable"]);
    const twice = replaced("p1", (text) => `${text} She has a job at Nexona Amlo.`);
    expect(await codes(twice, CHAIN)).toEqual(["passage-unreadable"]);
    const odd = replaced("p4", (text) => `${text} She sings.`);
    expect((await check(odd, CHAIN)).problems[0]?.message).toBe(
      'sentence 2 ("She sings.") states no known fact',
    );
  });

  it("sees one id on two passages or two questions", async () => {
    const [first, ...rest] = PASSAGES;
    expect(
      await codes([{ ...(first ?? passage("", "", "")), id: "p2" }, ...rest], CHAIN),
    ).toContain("id-twice");
    const report = await checkTinyWorld(PASSAGES, [CHAIN, CHAIN]);
    expect(report.problems.map(({ code }) => code)).toEqual(["id-twice"]);
  });

  it("sees that one passage holds both the question's entity and the answer", async () => {
    const leak = replaced("p4", (text) => text.replace("1950", "1877"));
    const { problems } = await check(leak, CHAIN);
    expect(problems).toEqual([
      {
        where: "q1",
        code: "single-passage-answer",
        message: 'passage p4 contains both "Bera Jardak" and "1877"',
      },
    ]);
  });

  it("sees that the question gives an answer on the way, or comes back to where it was", async () => {
    const circle = [
      passage(
        "p1",
        "Bera Jardak",
        "Bera Jardak is a poet born in 1901. She studied under Cava Dorvik.",
      ),
      passage(
        "p4",
        "Cava Dorvik",
        "Cava Dorvik is a baker born in 1950. She studied under Bera Jardak.",
      ),
    ];
    const task = {
      ...CHAIN,
      question: "Who taught the teacher of Bera Jardak?",
      references: ["Bera Jardak"],
      annotations: {
        decomposition: [
          { question: "teacher of Bera Jardak", answer: "Cava Dorvik", passage: "p4" },
        ],
      },
    };
    expect(await codes(circle, task)).toContain("name-given-away");
  });

  it("sees a question that it cannot read", async () => {
    expect(await codes(PASSAGES, { ...CHAIN, question: "Where does Bera Jardak sing?" })).toEqual([
      "question-unreadable",
    ]);
  });

  it("sees a comparison of equal years, and a pair that one passage names", async () => {
    const task: Task = {
      ...CHAIN,
      question: "Who was born first, Bera Jardak or Cava Dorvik?",
      references: ["Bera Jardak"],
      annotations: {},
    };
    expect(await codes(PASSAGES, task)).toContain("single-passage-answer");
    const equal = replaced("p4", (text) => text.replace("1950", "1901"));
    expect(await codes(equal, task)).toContain("answer-differs");
  });
});

describe("reading", () => {
  it("takes facts from sentences, whoever they call the subject", () => {
    const reading = readPassage(
      passage(
        "p",
        "Bera Jardak",
        "Bera Jardak is a poet born in 1901. The poet comes from Barbru Askhaf.",
      ),
    );
    expect(reading.kind).toBe("person");
    expect([...reading.facts]).toEqual([
      ["person-birth-year", { value: "1901", sentence: 0 }],
      ["person-birthplace", { value: "Barbru Askhaf", sentence: 1 }],
    ]);
  });

  it("unwraps a question from the outside to its entity", () => {
    const readings = readQuestion(
      "Where was the person who founded the firm that employs Bera Jardak born?",
    );
    expect(
      readings.map((r) => r.type === "bridge" && [r.anchor, ...r.chain.map(({ name }) => name)]),
    ).toEqual([["Bera Jardak", "person-employer", "firm-founder", "person-birthplace"]]);
  });

  it("reads no question in two ways", () => {
    const world = tinyWorld({ seed: 11, split: "test", people: 500 });
    for (const task of world.questions(1000, { mix: EVERY_KIND })) {
      expect(readQuestion(task.question)).toHaveLength(1);
    }
  });
});

function passage(id: string, title: string, text: string): Passage {
  return { id, title, text };
}

function replaced(id: string, change: (text: string) => string): Passage[] {
  return PASSAGES.map((p) => (p.id === id ? { ...p, text: change(p.text) } : p));
}

function check(passages: readonly Passage[], task: Task): Promise<TinyWorldReport> {
  return checkTinyWorld(passages, [task]);
}

async function codes(passages: readonly Passage[], task: Task): Promise<string[]> {
  return (await check(passages, task)).problems.map(({ code }) => code);
}

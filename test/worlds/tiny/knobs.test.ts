import { describe, expect, it } from "vitest";
import { checkTinyWorld } from "../../../src/worlds/tiny/check.ts";
import { readPassage } from "../../../src/worlds/tiny/reading.ts";
import { tinyWorldVocabulary, tinyWorldWords } from "../../../src/worlds/tiny/text.ts";
import {
  type TinyPassage,
  type TinyWorld,
  tinyWorld,
} from "../../../src/worlds/tiny/tiny-world.ts";
import { type TinyWorldSettings } from "../../../src/worlds/tiny/tiny-world-settings.ts";
import type { Task } from "../../../src/trajectory/task.ts";

const CHAINS = { bridge1: 1, bridge2: 1, bridge3: 1, bridge4: 1, bridge5: 1, bridge6: 1 };
const SHAPES = { comparison: 1, yesNo: 1, intersect: 1, compareChains: 1 };
const EVERY_KIND = { ...CHAINS, ...SHAPES };
const NO_CHAINS = { bridge1: 0, bridge2: 0, bridge3: 0, comparison: 0, yesNo: 0 };
const MIXED = { namesakes: 0.4, aliases: 0.3, filler: 3, missing: 0.05, contradicted: 0.2 };
const KNOBS: TinyWorldSettings[] = [
  { namesakes: 0.5 },
  { aliases: 0.4 },
  { filler: 6 },
  { missing: 0.15 },
  { contradicted: 0.3 },
  { sources: 2 },
  { sources: 3 },
  { ...MIXED, sources: 3 },
  { ...MIXED, wordings: 1 },
];

const worldWith = (knobs: TinyWorldSettings): TinyWorld =>
  tinyWorld({ seed: 4, split: "train", people: 300, ...knobs });

const asked = (world: TinyWorld, kind: string, count = 60): Task[] => [
  ...world.questions(count, { mix: { ...NO_CHAINS, [kind]: 1 } }),
];

describe.each(["entity", "fact"] as const)("a world with a passage for each %s", (passages) => {
  it.each(KNOBS)("and %o has no problem in its text, whatever its seed", async (knobs) => {
    for (const seed of [1, 2]) {
      const world = tinyWorld({ seed, people: seed * 80, passages, ...knobs });
      const unanswerable = knobs.missing === undefined ? 0 : 0.3;
      const tasks = world.questions(200, { mix: EVERY_KIND, unanswerable });
      const { problems } = await checkTinyWorld(world.passages(), tasks);
      expect(problems).toEqual([]);
    }
  });
});

it("all knobs need no word beyond the vocabulary", () => {
  const known = new Set(tinyWorldVocabulary());
  const world = worldWith({ ...MIXED, sources: 3 });
  const tasks = [...world.questions(400, { mix: EVERY_KIND, unanswerable: 0.2 })];
  const texts = [
    ...[...world.passages()].flatMap(({ title, text, source }) => [title, text, source ?? ""]),
    ...tasks.flatMap(({ question, references }) => [question, ...references]),
    ...tasks.flatMap(({ annotations }) =>
      (annotations.decomposition ?? []).flatMap((step) => [step.question, step.answer]),
    ),
  ];
  const words = texts.flatMap(tinyWorldWords).filter((word) => !/^\d+$/.test(word));
  expect([...new Set(words)].filter((word) => !known.has(word))).toEqual([]);
});

describe("kinds of question", () => {
  it("intersect: one entity meets both conditions; each step finds an entity by its value", () => {
    const [task] = asked(worldWith({}), "intersect", 1);
    expect(task?.question).toMatchInlineSnapshot(
      `"Which person comes from Korgat Drastrom and works for Axona Magtek?"`,
    );
    expect(task?.references).toMatchInlineSnapshot(`
      [
        "Nadan Lunkamp",
      ]
    `);
    expect(task?.annotations.decomposition).toMatchInlineSnapshot(`
      [
        {
          "answer": "Nadan Lunkamp",
          "passage": "train-225",
          "question": "whose birthplace is Korgat Drastrom",
        },
        {
          "answer": "Nadan Lunkamp",
          "passage": "train-225",
          "question": "whose employer is Axona Magtek",
        },
      ]
    `);
  });

  it("compareChains: the steps of both chains, in order", () => {
    const [task] = asked(worldWith({}), "compareChains", 1);
    expect(task?.question).toMatchInlineSnapshot(
      `"Which town was founded first, the birthplace of Cadan Jardak or the host of Fosbalu Biktumbo?"`,
    );
    expect(task?.references).toMatchInlineSnapshot(`
      [
        "Velpera Crolok",
      ]
    `);
    expect(task?.annotations.decomposition).toMatchInlineSnapshot(`
      [
        {
          "answer": "Korbru Nartoft",
          "passage": "train-185",
          "question": "birthplace of Cadan Jardak",
        },
        {
          "answer": "1938",
          "passage": "train-369",
          "question": "founding year of Korbru Nartoft",
        },
        {
          "answer": "Velpera Crolok",
          "passage": "train-499",
          "question": "host of Fosbalu Biktumbo",
        },
        {
          "answer": "1924",
          "passage": "train-358",
          "question": "founding year of Velpera Crolok",
        },
      ]
    `);
  });

  it.each(["intersect", "compareChains"])("%s hardly ever repeats", (kind) => {
    const tasks = asked(worldWith({}), kind);
    expect(new Set(tasks.map(({ question }) => question)).size).toBeGreaterThan(50);
  });
});

describe("namesakes", () => {
  const world = worldWith({ namesakes: 0.5 });
  const titles = [...new Set([...world.passages()].map(({ title }) => title))];

  it("share a name, and a noun in the title tells them apart", () => {
    const qualified = titles.filter((title) => title.includes(","));
    const names = qualified.map((title) => title.split(",")[0]);
    expect(titles).toHaveLength(510);
    expect(new Set(names).size).toBe(names.length / 2);
    // People, works and events: 390 of the 510 entities.
    expect(qualified.length / 390).toBeGreaterThan(0.4);
    expect(qualified.length / 390).toBeLessThan(0.6);
  });

  it("are called by noun and name in questions and other passages", () => {
    const texts = [...world.passages()].map(({ text }) => text).join(" ");
    for (const title of titles.filter((each) => each.includes(",")).slice(0, 20)) {
      const [name = "", noun = ""] = title.split(", ");
      expect(texts).not.toMatch(new RegExp(`(?:for|by|under|of) ${name}`));
      expect(world.passage(titles.indexOf(title)).text).toContain(noun);
    }
  });
});

describe("second names", () => {
  it("are what the questions use, and a passage of its own resolves each", () => {
    const world = worldWith({ aliases: 1 });
    const byId = new Map([...world.passages()].map((passage) => [passage.id, passage]));
    for (const task of asked(world, "bridge1")) {
      const [first, second] = task.annotations.decomposition ?? [];
      const alias = first?.question.replace("real name of ", "") ?? "";
      expect(task.question).toContain(alias);
      expect(task.question).not.toContain(first?.answer);
      expect(byId.get(first?.passage ?? "")).toMatchObject({ title: first?.answer });
      expect(byId.get(first?.passage ?? "")?.text).toContain(alias);
      expect(second?.question).toContain(first?.answer);
      expect(task.annotations.hops).toBe(2);
    }
  });

  it("are names of no other entity of any split", () => {
    const worlds = (["train", "dev", "test"] as const).map((split) =>
      worldWith({ aliases: 1, split }),
    );
    const names = worlds.flatMap((world) =>
      [...world.passages()].map((passage) => readPassage(passage)),
    );
    const aliases = names.flatMap(({ alias }) => alias?.value ?? []);
    expect(new Set([...aliases, ...names.map(({ name }) => name)]).size).toBe(3 * 2 * 510);
  });
});

describe("filler", () => {
  it("leaves facts and questions as they are, and puts facts anywhere", () => {
    const [plain, long] = [worldWith({}), worldWith({ filler: 8 })];
    const places = new Set<number>();
    for (let i = 0; i < plain.size; i++) {
      const { facts } = readPassage(long.passage(i));
      const values = [...facts].map(([relation, { value }]) => [relation, value]);
      const before = readPassage(plain.passage(i)).facts;
      expect(values).toEqual([...before].map(([relation, { value }]) => [relation, value]));
      expect(long.passage(i).sentences).toHaveLength(before.size + 8);
      for (const { sentence } of facts.values()) places.add(sentence);
    }
    expect(places.size).toBe(12);
    expect(long.question(5).question).toBe(plain.question(5).question);
  });
});

describe("missing facts", () => {
  const world = worldWith({ missing: 0.2 });

  it("are asked for only where that is wanted, with the reference unknown", () => {
    const mix = { ...CHAINS };
    expect([...world.questions(200, { mix })].map((task) => task.annotations.answerable)).toEqual(
      Array(200).fill(undefined),
    );
    const tasks = [...world.questions(200, { mix, unanswerable: 0.5 })];
    const unknown = tasks.filter(({ annotations }) => annotations.answerable === false);
    expect(unknown.length).toBeGreaterThan(80);
    expect(unknown.length).toBeLessThan(120);
    for (const { references, annotations } of unknown) {
      expect(references).toEqual(["unknown"]);
      expect(annotations.decomposition?.at(-1)).toMatchObject({ answer: "unknown", passage: null });
      expect(annotations.supportingPassages).toHaveLength((annotations.hops ?? 0) - 1);
    }
  });

  it("are a share of all facts", () => {
    const count = (of: TinyWorld): number =>
      [...of.passages()].reduce((sum, passage) => sum + readPassage(passage).facts.size, 0);
    expect(count(world) / count(worldWith({}))).toBeCloseTo(0.8, 1);
  });
});

describe("rumours", () => {
  it("contradict a share of the facts in passages that name their source", () => {
    const world = worldWith({ contradicted: 0.25 });
    const passages = [...world.passages()];
    const facts = new Map(
      passages.flatMap((passage) => {
        const { name, facts: read } = readPassage(passage);
        return [...read].map(([relation, { value }]) => [`${name} ${relation}`, value] as const);
      }),
    );
    const rumours = passages.filter((passage) => readPassage(passage).rumours.length > 0);
    expect(rumours).toHaveLength(Math.floor(facts.size * 0.25));
    for (const passage of rumours) {
      expect(passage.text).toMatch(/^(A rumour|Gossip|An unsigned letter) /);
      const { name, rumours: said } = readPassage(passage);
      const right = facts.get(`${name} ${said[0]?.relation.name ?? ""}`);
      expect(right).toBeDefined();
      expect(said[0]?.value).not.toBe(right);
    }
  });
});

describe("stores", () => {
  it("hold each fact once, in their own style, and the route names the store of each step", () => {
    const world = worldWith({ sources: 3 });
    const byId = new Map([...world.passages()].map((passage) => [passage.id, passage]));
    const styles = { encyclopedia: /^[A-Z]/, table: /^[a-z ]+ : /, register: /^Filed under / };
    for (const { source, text } of byId.values()) {
      expect(text).toMatch(styles[source as keyof typeof styles]);
    }
    for (const { annotations } of world.questions(60, { mix: EVERY_KIND })) {
      const stores = annotations.supportingPassages?.map((id) => byId.get(id)?.source);
      expect(annotations.route).toEqual(stores);
    }
    expect(worldWith({}).passage(0).source).toBeUndefined();
  });
});

describe("the checker, on a knob's text with a planted fault,", () => {
  /** Codes after a change of the passages of a world. */
  const codes = async (
    knobs: TinyWorldSettings,
    kind: string,
    change: (passage: TinyPassage, task: Task) => string,
  ): Promise<string[]> => {
    const world = worldWith(knobs);
    const [task] = asked(world, kind, 1);
    if (task === undefined) return [];
    const passages = [...world.passages()].map((passage) => ({
      ...passage,
      text: change(passage, task),
    }));
    const { problems } = await checkTinyWorld(passages, [task]);
    return [...new Set(problems.map(({ code }) => code))];
  };
  const isGold = ({ id }: TinyPassage, task: Task, at: number): boolean =>
    task.annotations.decomposition?.at(at)?.passage === id;

  it("sees a second name that nobody states", async () => {
    expect(
      await codes({ aliases: 1 }, "bridge1", (passage, task) =>
        isGold(passage, task, 0) ? "The weather is mild near Wenzola Hurnau." : passage.text,
      ),
    ).toEqual(["chain-broken"]);
  });

  it("sees a rumour that is true", async () => {
    expect(
      await codes({}, "bridge1", (passage, task) => {
        const [fact] = task.annotations.supportingFacts ?? [];
        if (!isGold(passage, task, 0) || fact === undefined) return passage.text;
        const said = passage.sentences[fact.sentence]?.replace(passage.title, "It") ?? "";
        return `${passage.text} Gossip claims that ${said[0]?.toLowerCase() ?? ""}${said.slice(1)}`;
      }),
    ).toEqual(["rumour-true"]);
  });

  it("sees that one condition of an intersection is enough, or that nobody meets both", async () => {
    const met = await codes({}, "intersect", (passage, task) =>
      isGold(passage, task, -1) ? passage.text : passage.text.replace(/(?<=\. ).*$/, ""),
    );
    expect(met).toContain("chain-broken");
  });

  it("sees that a fact is stated although the question says that none is", async () => {
    const world = worldWith({ missing: 0.2 });
    const options = { mix: { ...NO_CHAINS, bridge1: 1 }, unanswerable: 1 };
    const task = world.question(0, options);
    const whole = worldWith({});
    const { problems } = await checkTinyWorld(whole.passages(), [task]);
    expect(problems.map(({ code }) => code)).toContain("answer-differs");
  });

  it("sees a sentence that is neither fact nor filler", async () => {
    expect(
      await codes({ filler: 2 }, "bridge1", ({ text }) => text.replace("Rain fell", "Snow fell")),
    ).toEqual(["passage-unreadable"]);
  });
});

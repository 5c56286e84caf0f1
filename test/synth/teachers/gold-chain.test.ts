import { behaviourSchema } from "../../../src/synth/teachers/behaviour.ts";
import { describe, expect, it } from "vitest";
import { tinyWorld } from "../../../src/worlds/tiny/tiny-world.ts";
import { buildBm25 } from "../../../src/retrieval/bm25/bm25.ts";
import { strategies } from "../../../src/rollout/strategies/index.ts";
import {
  askedStrategies,
  goldChainStrategies,
  goldChain,
} from "../../../src/synth/teachers/gold-chain.ts";
import type { Passage, Task } from "../../../src/trajectory/task.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { scriptedTeacher } from "../../helpers/scripted-teacher.ts";
import { rolloutOptions, searchEnvironment } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

const passages: Passage[] = [
  {
    id: "war",
    title: "Northern War (film)",
    text: "Northern War is a film directed by Jan Kowal.",
  },
  { id: "kowal", title: "Jan Kowal", text: "Jan Kowal is a director. His mother is Ewa Nowak." },
  { id: "nowak", title: "Ewa Nowak", text: "Ewa Nowak, a singer, was born in Lublin." },
  { id: "other", title: "Northern Peace", text: "Northern Peace is a film directed by Piotr Lis." },
  { id: "lis", title: "Piotr Lis", text: "Piotr Lis, a director, was born in Lublin." },
  { id: "rain", title: "Rain", text: "Rain falls in the north." },
];
const corpus = buildBm25(passages);

/** A question of a dataset's shape. */
function asking(question: string, answer: string, annotations: Task["annotations"]): Task {
  return { id: "q", question, references: [answer], source: "test", annotations };
}

const context = passages.slice(0, 4);
const ofMusique = asking("Where was the mother of Northern War's director born?", "Lublin", {
  supportingPassages: ["war", "kowal", "nowak"],
  context,
  decomposition: [
    { question: "Northern War >> director", answer: "Jan Kowal", passage: "war" },
    { question: "Who is the mother of #1?", answer: "Ewa Nowak", passage: "kowal" },
    { question: "Where was #2 born?", answer: "Lublin", passage: "nowak" },
  ],
});
const of2Wiki = asking("Who is the mother of the director of film Northern War?", "Ewa Nowak", {
  type: "compositional",
  supportingPassages: ["war", "kowal"],
  context,
  evidences: [
    { subject: "Northern War", relation: "director", object: "Jan Kowal" },
    { subject: "Jan Kowal", relation: "mother", object: "Ewa Nowak" },
  ],
});
const ofHotpot = asking("Whose son directed Northern War?", "Ewa Nowak", {
  type: "bridge",
  supportingPassages: ["kowal", "war"],
  supportingFacts: [
    { title: "Jan Kowal", sentence: 1 },
    { title: "Northern War (film)", sentence: 0 },
  ],
  context: context.map((each) => ({ ...each, sentences: each.text.split(/(?<=\.) /) })),
});
const yesNo = asking("Are Northern War and Northern Peace both films?", "yes", {
  supportingPassages: ["war", "other"],
  context,
});
const plain = asking("Who directed Northern Peace?", "Piotr Lis", {});

interface Setting {
  settings?: object;
  environment?: Record<string, unknown>;
  strategy?: string;
  seed?: number;
}

function play(task: Task, how: Setting = {}): Promise<Trajectory> {
  const environment = searchEnvironment(how.environment, corpus);
  const policy = scriptedTeacher(goldChain, environment, how.settings);
  const options = rolloutOptions({ policy, environment, task, seed: how.seed ?? 3 });
  return strategies.get(how.strategy ?? "agent", "test").run(options);
}

/** What was searched for and answered. */
function actions({ turns }: Trajectory): string[] {
  return turns.flatMap((turn) => turn.actions.map(({ tool, input }) => `${tool}: ${input}`));
}

function messages({ turns }: Trajectory): string[] {
  return turns.map(({ text }) => text);
}

describe("goldChain", () => {
  it("asks MuSiQue's steps in order, filled with the answers that were read", async () => {
    expect(messages(await play(ofMusique))).toMatchInlineSnapshot(`
      [
        "<think> First I have to find out the director of Northern War.</think><search> director of Northern War</search>",
        "<think> The director of Northern War is Jan Kowal. The next question: Who is the mother of Jan Kowal?</think><search> Who is the mother of Jan Kowal?</search>",
        "<think> So that is Ewa Nowak. The next question: Where was Ewa Nowak born?</think><search> Where was Ewa Nowak born?</search>",
        "<think> There it is: Lublin.</think><answer> Lublin</answer>",
      ]
    `);
  });

  it("asks for 2WikiMultihopQA's relations, each of what is known by then", async () => {
    expect(messages(await play(of2Wiki))).toMatchInlineSnapshot(`
      [
        "<think> First I have to find out the director of Northern War.</think><search> director of Northern War</search>",
        "<think> The director of Northern War is Jan Kowal. I still have to find out the mother of Jan Kowal.</think><search> mother of Jan Kowal</search>",
        "<think> I read it under Jan Kowal: Ewa Nowak.</think><answer> Ewa Nowak</answer>",
      ]
    `);
  });

  it("looks HotpotQA's passages up by names that stand in the question or were read", async () => {
    expect(messages(await play(ofHotpot))).toMatchInlineSnapshot(`
      [
        "<think> The question names Northern War, so I look that up first.</think><search> Northern War</search>",
        "<think> Now I should read about Jan Kowal, which Northern War (film) names.</think><search> Jan Kowal</search>",
        "<think> I read it under Jan Kowal: Ewa Nowak.</think><answer> Ewa Nowak</answer>",
      ]
    `);
  });

  it("answers yes or no when all passages were read", async () => {
    expect(actions(await play(yesNo))).toMatchInlineSnapshot(`
      [
        "search: Northern War",
        "search: Northern Peace",
        "answer: yes",
      ]
    `);
  });

  it("searches for a question of which nothing but the answer is known until it reads it", async () => {
    expect(actions(await play(plain))).toEqual([
      "search: Who directed Northern Peace?",
      "answer: Piotr Lis",
    ]);
  });

  it.each([ofMusique, of2Wiki, ofHotpot, yesNo, plain])(
    "plays in hermes: $question",
    async (task) => {
      const told = await play(task);
      const trajectory = await play(task, { environment: { protocol: "hermes" } });
      expect(actions(trajectory)).toEqual(actions(told));
      expect(trajectory.turns.flatMap(({ problems }) => problems)).toEqual([]);
      expect(trajectory.answer).toBe(task.references[0]);
    },
  );

  it("asks for nothing that holds an answer which was not read", async () => {
    const leaking = asking("Where was Ewa Nowak's son's colleague born?", "Lublin", {
      decomposition: [{ question: "Who of Lublin directs?", answer: "Piotr Lis", passage: "lis" }],
      supportingPassages: ["lis"],
    });
    const [first] = actions(await play(leaking));
    expect(first).toBe("search: Where was Ewa Nowak's son's colleague born?");
  });

  it("gives up when its searches are used up, with an error of its own", async () => {
    const missing = asking("Who rules Atlantis?", "Nobody", {
      supportingPassages: ["gone"],
      supportingFacts: [{ title: "Atlantis", sentence: 0 }],
    });
    const { end, error, answer, turns } = await play(missing, { settings: { searches: 2 } });
    expect({ end, error, answer }).toMatchObject({
      end: "model-error",
      error: { boundary: "model", code: "TEACHER_GAVE_UP" },
      answer: null,
    });
    expect(turns).toHaveLength(2);
  });

  it("does not take for read what the budget of an observation cut away", async () => {
    const budgets = [{ scope: "observation", unit: "tokens", limit: 14, onExhausted: "cut" }];
    const { error } = await play(ofHotpot, { environment: { budgets } });
    expect(error?.code).toBe("TEACHER_GAVE_UP");
  });

  it("gives up in a last turn that cannot search", async () => {
    const budgets = [{ scope: "trajectory", unit: "turns", limit: 1, onExhausted: "final-turn" }];
    const { error, turns } = await play(yesNo, { environment: { budgets } });
    expect([error?.code, turns.length]).toEqual(["TEACHER_GAVE_UP", 1]);
  });

  it("guesses at once, stops early or asks vaguely as often as its behaviour says", async () => {
    const guess = {
      settings: { behaviour: behaviourSchema.parse({ search: 0, continue: 1, fullQuery: 1 }) },
    };
    expect(actions(await play(ofMusique, guess))).toEqual(["answer: Northern War"]);
    const stop = {
      settings: { behaviour: behaviourSchema.parse({ search: 1, continue: 0, fullQuery: 1 }) },
    };
    expect(actions(await play(ofMusique, stop)).at(-1)).toBe("answer: Jan Kowal");
    const vague = {
      settings: {
        behaviour: behaviourSchema.parse({ search: 1, continue: 1, fullQuery: 0 }),
        searches: 2,
      },
    };
    const queries = actions(await play(of2Wiki, vague));
    expect(queries.slice(0, 2)).toEqual(["search: director", "search: director"]);
  });

  it("answers from what was shown where a strategy forces it to, else with a name of the question's", async () => {
    const task = asking("Who directed Northern Peace?", "Piotr Lis", {
      supportingPassages: ["other"],
      context,
    });
    expect((await play(task, { strategy: "rag" })).answer).toBe("Piotr Lis");
    expect((await play(task, { strategy: "direct" })).answer).toBe("Northern Peace");
  });

  it("writes the same for the same question, seed and turns, whatever it wrote before", async () => {
    const environment = searchEnvironment({}, corpus);
    const policy = scriptedTeacher(goldChain, environment);
    const run = (task: Task, seed: number): Promise<Trajectory> =>
      strategies.get("agent", "test").run(rolloutOptions({ policy, environment, task, seed }));
    const first = await run(ofMusique, 5);
    await run(yesNo, 8);
    expect(await run(ofMusique, 5)).toEqual(first);
    const texts = new Set<string>();
    for (let seed = 0; seed < 8; seed++) texts.add(messages(await run(ofMusique, seed)).join());
    expect(texts.size).toBeGreaterThan(4);
  });

  it("refuses strategies that ask with prompts of their own, naming those that it plays", async () => {
    expect(goldChainStrategies()).toEqual([
      ...[
        "agent",
        "direct",
        "rag",
        "given",
        "self-consistent-actions",
        "hint-infer",
        "entropy-branching",
        "tree-rollout",
      ],
    ]);
    await expect(play(plain, { strategy: "corag" })).rejects.toThrow(
      errorWith("TEACHER_CANNOT_PLAY", "agent, direct, rag, given, "),
    );
  });

  it("refuses strategies that do not say what their prompts ask for", async () => {
    const settings = { style: "brief" } as const;
    await expect(play(ofMusique, { settings, strategy: "ircot" })).rejects.toThrow(
      errorWith("TEACHER_CANNOT_PLAY", ...askedStrategies()),
    );
  });

  it.each(goldChainStrategies())("plays %s", async (strategy) => {
    const { answer, error } = await play(ofMusique, { strategy });
    expect(error).toBeUndefined();
    // Without a search of its own it takes what it has: a passage, or the question's name.
    const hasty = { rag: "Jan Kowal", direct: "Northern War" }[strategy];
    expect(answer).toBe(hasty ?? "Lublin");
  });
});

describe("the brief style", () => {
  const world = tinyWorld({ split: "dev", people: 60, seed: 3 });
  const environment = searchEnvironment({}, buildBm25(world.passages()));
  const brief = (task: Task): Promise<Trajectory> => {
    const settings = { style: "brief" };
    const policy = scriptedTeacher(goldChain, environment, settings);
    return strategies.get("agent", "test").run(rolloutOptions({ policy, environment, task }));
  };

  it("has three thoughts, and the tiny world's steps as queries", async () => {
    const task = world.question(1);
    const steps = task.annotations.decomposition ?? [];
    expect(messages(await brief(task))).toEqual([
      ...steps.map(
        ({ question }) => `<think> I must look it up</think><search> ${question}</search>`,
      ),
      `<think> I can answer now</think><answer> ${task.references[0] ?? ""}</answer>`,
    ]);
  });

  it("gives up where a question has no decomposition", async () => {
    expect((await brief(plain)).error).toMatchObject({ code: "TEACHER_GAVE_UP" });
  });

  it("and the telling one answer all questions of a world that its searches can", async () => {
    const policy = scriptedTeacher(goldChain, environment);
    for (const task of world.questions(40)) {
      const options = rolloutOptions({ policy, environment, task, id: task.id });
      const { answer, turns } = await strategies.get("agent", "test").run(options);
      expect([task.id, answer]).toEqual([task.id, task.references[0]]);
      expect(turns.length).toBeLessThanOrEqual((task.annotations.hops ?? 0) + 2);
    }
  });
});

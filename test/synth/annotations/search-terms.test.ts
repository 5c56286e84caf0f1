import { describe, expect, it } from "vitest";
import { tinyWorld } from "../../../src/worlds/tiny/tiny-world.ts";
import { buildBm25 } from "../../../src/retrieval/bm25/bm25.ts";
import { taskAnnotations } from "../../../src/synth/annotations/index.ts";
import type { Passage, Task, TaskAnnotations } from "../../../src/trajectory/task.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { promptedPolicy } from "../../helpers/prompted-policy.ts";
import { replay, searchEnvironment, task } from "../../helpers/search-world.ts";

const passages: Passage[] = [
  { id: "brenn", title: "Aldo Brenn", text: "Aldo Brenn is a town. Its mayor is Bera Jardak." },
  { id: "jardak", title: "Bera Jardak", text: "Bera Jardak was born in 1920." },
  { id: "mayor", title: "Mayor of the year", text: "A mayor of a town is chosen as mayor." },
];
const world = buildBm25(passages);
const signal = new AbortController().signal;

function asked(annotations: TaskAnnotations): Task {
  return { ...task, question: "When was the mayor of Aldo Brenn born?", annotations };
}

const chain = asked({
  decomposition: [
    { question: "mayor of Aldo Brenn", answer: "Bera Jardak", passage: "brenn" },
    { question: "When was #1 born?", answer: "1920", passage: "jardak" },
  ],
});

async function termsOf(
  of: Task,
  options: Record<string, unknown> = {},
  { policy = replay([]), retriever = world } = {},
): Promise<string[][] | undefined> {
  const part = taskAnnotations.get("search-terms", "test");
  const environment = searchEnvironment({}, retriever);
  const resources = { policy, environment, passages: () => passages, seed: 1 };
  const opened = await part.open(part.options.parse(options), resources);
  try {
    const before = structuredClone(of);
    const { annotations, ...rest } = await opened.annotate(of, signal);
    expect(of).toEqual(before);
    expect({ ...rest, annotations: { ...annotations, searchTerms: undefined } }).toEqual({
      ...of,
      annotations: { ...of.annotations, searchTerms: undefined },
    });
    return annotations.searchTerms;
  } finally {
    await opened.close();
  }
}

describe("search-terms", () => {
  it("keeps, for each step, the queries that find its passage, earlier answers filled in", async () => {
    expect(await termsOf(chain)).toEqual([
      ["mayor of Aldo Brenn", "mayor Aldo Brenn", "Aldo Brenn mayor", "Aldo Brenn"],
      ["When was Bera Jardak born?", "Bera Jardak born"],
    ]);
    expect(await termsOf(chain, { terms: 1 })).toEqual([
      ["mayor of Aldo Brenn"],
      ["When was Bera Jardak born?"],
    ]);
  });

  it("keeps none for a step whose passage no query finds", async () => {
    const [first, second] = chain.annotations.decomposition!;
    const lost = asked({ decomposition: [first!, { ...second!, passage: "elsewhere" }] });
    expect((await termsOf(lost))?.[1]).toEqual([]);
    // Under another id, but with the title that the question's own passages tell.
    const context = [{ id: "elsewhere", title: "Bera Jardak", text: "" }];
    const titled = asked({ ...lost.annotations, context });
    expect((await termsOf(titled))?.[1]).toEqual([
      "When was Bera Jardak born?",
      "Bera Jardak born",
    ]);
  });

  it("asks at least half of the retrievers to be served, and puts what serves most of them first", async () => {
    // One of two finds it: enough. Of three, two must.
    expect((await termsOf(chain, { retrievers: ["none"] }))?.[1]).toHaveLength(2);
    expect(await termsOf(chain, { retrievers: ["none", "none"] })).toEqual([[], []]);
    expect((await termsOf(chain, { retrievers: ["none", "bm25"] }))?.[0]).toHaveLength(4);
    // The environment's own search finds the mayors' page for the question; the other one shows two hits.
    const mayors = "mayor of a town";
    const policy = promptedPolicy([[/Queries:\n$/, `1. ${mayors}\n2. "Aldo Brenn"`]]);
    const settings = { rewrites: 2, retrievers: [{ name: "bm25" }], topK: 2 };
    const [first] = (await termsOf(chain, settings, { policy })) ?? [];
    expect(first).toEqual([
      ...["mayor of Aldo Brenn", "mayor Aldo Brenn", "Aldo Brenn mayor", "Aldo Brenn", mayors],
    ]);
  });

  it("takes triples for steps, and a hit that tells the answer where no passage is named", async () => {
    const evidences = [
      { subject: "Aldo Brenn", relation: "mayor", object: "Bera Jardak" },
      { subject: "Aldo Brenn", relation: "founder", object: "Nobody Known" },
    ];
    expect(await termsOf(asked({ evidences }))).toEqual([
      ["mayor of Aldo Brenn", "mayor Aldo Brenn", "Aldo Brenn mayor", "Aldo Brenn"],
      [],
    ]);
  });

  it("reads MuSiQue's steps, and takes any hit where nothing is known of a step", async () => {
    const musique = asked({
      decomposition: [{ question: "Aldo Brenn >> mayor", answer: "Bera Jardak", passage: "brenn" }],
    });
    expect((await termsOf(musique))?.[0]?.[0]).toBe("mayor of Aldo Brenn");
    const strategy = asked({
      decomposition: [{ question: "Is a town a person?", answer: "", passage: null }],
    });
    expect(await termsOf(strategy)).toEqual([["Is a town a person?", "town person"]]);
  });

  it("leaves a question without steps as it is", async () => {
    expect(await termsOf(asked({ hops: 2 }))).toBeUndefined();
  });

  it("finds terms for every step of the tiny world's questions", async () => {
    const tiny = tinyWorld({ seed: 3, split: "dev", people: 200 });
    const retriever = buildBm25(tiny.passages());
    for (const question of tiny.questions(20)) {
      const terms = await termsOf(question, {}, { retriever });
      expect(terms).toHaveLength(question.annotations.decomposition!.length);
      for (const step of terms!) expect(step.length).toBeGreaterThan(0);
    }
  });

  it("fails as a rollout does when a search fails", async () => {
    const retriever = { ...world, search: () => Promise.reject(new Error("engine down")) };
    await expect(termsOf(chain, {}, { retriever })).rejects.toThrow(
      errorWith("TOOL_FAILED", "engine down"),
    );
  });
});

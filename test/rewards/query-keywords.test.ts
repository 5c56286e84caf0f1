import { describe, expect, it } from "vitest";
import { queryKeywords } from "../../src/rewards/query-keywords.ts";
import type { TaskAnnotations } from "../../src/trajectory/task.ts";
import { scoreWith } from "../helpers/reward-context.ts";
import { answered, task } from "../helpers/search-world.ts";

const STEPS: TaskAnnotations = {
  decomposition: [
    { question: "birthplace of Ibsen", answer: "Skien", passage: null },
    { question: "mayor of #1", answer: "Lund", passage: null },
  ],
};

/** What a trajectory with these queries is given. */
async function scoreOf(queries: string[], annotations: TaskAnnotations = STEPS): Promise<unknown> {
  const turns = queries.map((input, call) => ({
    call,
    text: "",
    problems: [],
    actions: [{ tool: "search", input }],
    observations: [{ tool: "search", text: "Nothing was found.", passageIds: [] }],
  }));
  const trajectory = answered("Lund", { turns });
  const [score] = await scoreWith(queryKeywords, [{ trajectory, task: { ...task, annotations } }]);
  return score;
}

describe("query-keywords", () => {
  it("averages over steps the best F1 of a query with the step's question, answers filled in", async () => {
    // "mayor Skien" and "mayor of skien": precision 1, recall 2/3.
    expect(await scoreOf(["mayor Skien"])).toBeCloseTo(0.8 / 2, 9);
    expect(await scoreOf(["birthplace of Ibsen", "mayor of Skien"])).toBe(1);
    expect(await scoreOf([])).toBe(0);
  });

  it("takes the best query of a step, also where a worse one follows", async () => {
    // "of" stands in both steps: F1 1/3 with the first.
    expect(await scoreOf(["mayor of Skien", "mayor"])).toBeCloseTo((1 / 3 + 1) / 2, 9);
  });

  it("takes a step's reference queries where they are known, and leaves out steps without any", async () => {
    const searchTerms = [["Ibsen born", "Ibsen's town"], []];
    expect(await scoreOf(["Ibsen born"], { ...STEPS, searchTerms })).toBe(1);
  });

  it("reads triples where there are no steps", async () => {
    const evidences = [{ subject: "Ibsen", relation: "birthplace", object: "Skien" }];
    expect(await scoreOf(["birthplace of Ibsen"], { evidences })).toBe(1);
  });

  it("cannot score a question without steps", async () => {
    expect(await scoreOf(["Oslo"], {})).toBeNull();
  });
});

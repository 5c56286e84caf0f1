import { describe, expect, it } from "vitest";
import { RolloutError } from "../../src/base/errors.ts";
import { budgetsSchema } from "../../src/env/budget.ts";
import { type EvaluatePolicyOptions, evaluatePolicy } from "../../src/evaluate/evaluate.ts";
import type { EvaluationRow } from "../../src/evaluate/evaluation-row.ts";
import { buildBm25 } from "../../src/retrieval/bm25/bm25.ts";
import {
  type CompletionRequest,
  type TokenPolicy,
  scriptedPolicy,
} from "../../src/rollout/policy.ts";
import { GREEDY } from "../../src/rollout/sampling.ts";
import { makeTokenizer } from "../../src/text/tokenizer.ts";
import { wordTokenizer } from "../../src/text/word-tokenizer.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { environments } from "../../src/worlds/datasets.ts";
import "../helpers/all-parts.ts";
import { errorWith } from "../helpers/error-with.ts";

const files = wordTokenizer({ words: [], specials: ["<end>", "<pad>"] });
const tokenizer = makeTokenizer(files.tokenizer, files.config, "test");
const retriever = buildBm25([
  { id: "1", title: "Oslo", text: "Oslo is the capital of Norway." },
  { id: "2", title: "Lima", text: "Lima is the capital of Peru." },
]);
const settings = {
  budgets: [
    { scope: "trajectory", unit: "turns", limit: 2, onExhausted: "final-turn" },
    { scope: "observation", unit: "tokens", limit: 60, onExhausted: "cut" },
  ],
};
const environment = environments
  .get("search-qa", "test")
  .create({}, { retriever, budgets: budgetsSchema.parse(settings.budgets) });

const task = (id: string, question: string, answer: string, hops?: number): Task => ({
  id,
  question,
  references: [answer],
  source: "test",
  annotations: hops === undefined ? {} : { hops, type: hops === 1 ? "single" : "bridge" },
});
const tasks = [
  task("a", "capital of Norway?", "Oslo", 1),
  task("b", "capital of Peru?", "Lima", 2),
  task("c", "capital of Chad?", "N'Djamena"),
];

/** Searches once with the question, then answers Oslo. */
const searcher = ({ turns, task: { question } }: CompletionRequest): string =>
  turns.length === 0 ? `<search>${question}</search>` : "<answer>Oslo</answer>";

const evaluate = async (
  write: (request: CompletionRequest) => string,
  more: Partial<EvaluatePolicyOptions> = {},
) => {
  const rows: EvaluationRow[] = [];
  const summary = await evaluatePolicy({
    policy: scriptedPolicy(tokenizer, write),
    environment,
    tasks,
    strategy: "agent",
    sampling: GREEDY,
    seed: 1,
    signal: new AbortController().signal,
    onRow: (row) => Promise.resolve(void rows.push(row)),
    ...more,
  });
  return { ...summary, rows };
};

describe("evaluatePolicy", () => {
  it("scores every question and counts what it took", async () => {
    const { n, metrics, rows, ends, errors } = await evaluate(searcher);
    expect({ n, errors, ends }).toEqual({
      n: 3,
      ends: { answered: 3 },
      errors: { n: 0, byCode: {} },
    });
    expect(metrics).toMatchObject({ em: 1 / 3, f1: 1 / 3, cover_em: 1 / 3 });
    expect(metrics).toMatchObject({ searches: 1, turns: 2, answer_rate: 1, format_rate: 1 });
    expect(rows[0]).toEqual({
      id: "a",
      sample: 0,
      question: "capital of Norway?",
      references: ["Oslo"],
      answer: "Oslo",
      em: 1,
      f1: 1,
      precision: 1,
      recall: 1,
      cover_em: 1,
      token_cover: 1,
      drop_em: 1,
      drop_f1: 1,
      searches: 1,
      queries: ["capital of Norway?"],
      turns: 2,
      invalidTurns: 0,
      end: "answered",
      // Bytes of both messages and their end tokens.
      formatOk: true,
      cuts: { messages: 0, observations: 1, context: false },
      tokens: "<search>capital of Norway?</search>".length + 22,
      promptTokens: expect.any(Number) as number,
      // The second message begins with the answer.
      firstAnswer:
        "<search>capital of Norway?</search>".length /
        "<search>capital of Norway?</search><answer>Oslo</answer>".length,
      hops: 1,
      type: "single",
    });
  });

  it("groups by hops and by type, leaving out questions that do not say theirs", async () => {
    const { groups } = await evaluate(searcher);
    expect(groups.hops).toMatchObject({
      "1-hop": { n: 1, metrics: { em: 1, searches: 1 } },
      "2-hop": { n: 1, metrics: { em: 0 } },
    });
    expect(Object.keys(groups.type)).toEqual(["bridge", "single"]);
  });

  it("counts messages without a valid action, and questions without an answer", async () => {
    const { metrics, rows } = await evaluate(({ task: { id } }) =>
      id === "a" ? "<answer>Oslo</answer>" : "hm",
    );
    expect(metrics).toMatchObject({ em: 1 / 3, answer_rate: 1 / 3, format_rate: 1 / 3 });
    expect(rows.map(({ turns, end }) => [turns, end])).toEqual([
      [1, "answered"],
      [3, "turn-limit"],
      [3, "turn-limit"],
    ]);
  });

  it("asks directly without any search, and by rag with passages that fit the budget", async () => {
    const prompts: string[] = [];
    const policy: TokenPolicy = {
      ...scriptedPolicy(tokenizer, () => "Oslo</answer>"),
      complete: (request) => {
        prompts.push(tokenizer.decode(request.promptIds));
        return scriptedPolicy(tokenizer, () => "Oslo</answer>").complete(request);
      },
    };
    const direct = await evaluate(searcher, { policy, strategy: "direct" });
    expect(direct.metrics).toMatchObject({ em: 1 / 3, searches: 0, turns: 1, format_rate: 1 });
    expect(prompts[0]).toBe("Question: capital of Norway?\n<answer>");
    await evaluate(searcher, { policy, strategy: "rag" });
    const shown = "Doc 1(Title: Oslo) Oslo is the capital of Norway.\nDoc 2(Title: Lima) Lima";
    expect(prompts[3]).toBe(
      `Question: capital of Norway?\n<information>${shown.slice(0, 60)}</information>\n<answer>`,
    );
  });

  it("counts a prompt that the context cannot hold as wrong, with its reason", async () => {
    const policy = scriptedPolicy(tokenizer, searcher, 20);
    const { metrics, ends } = await evaluate(searcher, { policy });
    expect(ends).toEqual({ "context-limit": 3 });
    expect(metrics).toMatchObject({ em: 0, answer_rate: 0, format_rate: 0, completion_tokens: 0 });
  });

  it("draws several times and estimates avg@k and pass@k", async () => {
    const { n, samplesPerTask, metrics, rows, intervalMethods } = await evaluate(
      ({ task: { id }, seed }) =>
        `<answer>${id === "a" && seed === seeds[1] ? "Oslo" : "no"}</answer>`,
      { samplesPerTask: 4 },
    );
    expect({ n, samplesPerTask, rows: rows.length }).toEqual({ n: 3, samplesPerTask: 4, rows: 12 });
    expect(rows.slice(0, 5).map(({ id, sample }) => `${id}${sample}`)).toEqual([
      "a0",
      "a1",
      "a2",
      "a3",
      "b0",
    ]);
    // One of four draws of one of three questions is right.
    expect(metrics["avg@4"]).toBeCloseTo(1 / 12);
    expect(metrics["pass@1"]).toBeCloseTo(1 / 12);
    expect(metrics["pass@2"]).toBeCloseTo(0.5 / 3);
    expect(metrics["pass@4"]).toBeCloseTo(1 / 3);
    expect(intervalMethods.em).toBe("bootstrap");
  });

  it("reports rows in order and as they come, however late the first one is", async () => {
    const slow: TokenPolicy = {
      ...scriptedPolicy(tokenizer, searcher),
      complete: async (request) => {
        for (let i = 0; request.task.id === "a" && i < 50; i++) await Promise.resolve();
        return scriptedPolicy(tokenizer, searcher).complete(request);
      },
    };
    const seen: string[] = [];
    const progress: number[][] = [];
    await evaluate(searcher, {
      policy: slow,
      onRow: ({ id }, { taskId }) => {
        seen.push(id);
        expect(taskId).toBe(id);
        return Promise.resolve();
      },
      onProgress: ({ done, failed }) => progress.push([done, failed]),
    });
    expect(seen).toEqual(["a", "b", "c"]);
    expect(progress).toEqual([
      [1, 0],
      [2, 0],
      [3, 0],
    ]);
  });

  it("takes known rows as they are, asks only for the others, and sums up alike", async () => {
    const whole = await evaluate(searcher);
    const reported: string[] = [];
    const part = await evaluate(searcher, {
      known: ({ id }) => whole.rows.find((row) => row.id === id && id !== "b"),
      onRow: ({ id }) => Promise.resolve(void reported.push(id)),
    });
    expect(reported).toEqual(["b"]);
    expect({ ...part, rows: whole.rows }).toEqual(whole);
  });

  it("ends after the messages under way when interrupted, keeping the rows so far", async () => {
    const abort = new AbortController();
    const began: string[] = [];
    let release: () => void = () => undefined;
    const slow: TokenPolicy = {
      ...scriptedPolicy(tokenizer, searcher),
      complete: async (request) => {
        began.push(`${request.task.id}${request.turns.length}`);
        if (request.task.id === "b") await new Promise<void>((resolve) => (release = resolve));
        return scriptedPolicy(tokenizer, searcher).complete(request);
      },
    };
    const rows: EvaluationRow[] = [];
    const running = evaluate(searcher, {
      policy: slow,
      tasks: tasks.slice(0, 2),
      signal: abort.signal,
      onRow: (row) => {
        rows.push(row);
        abort.abort(new Error("stop"));
        release();
        return Promise.resolve();
      },
    });
    await expect(running).rejects.toThrow("stop");
    expect(rows.map(({ id }) => id)).toEqual(["a"]);
    // The second question's first message was awaited; its second one never began.
    expect(began.toSorted()).toEqual(["a0", "a1", "b0"]);
  });

  it("keeps how sure a strategy was of its answer", async () => {
    const { rows, calibration } = await evaluate(searcher, {
      strategy: { name: "self-consistency", draws: 2 },
      tasks: tasks.slice(0, 2),
    });
    // Both draws of a question say Oslo: sure of the right answer and of the wrong one.
    expect(rows.map(({ answer, confidence }) => [answer, confidence])).toEqual([
      ["Oslo", 1],
      ["Oslo", 1],
    ]);
    expect(calibration).toMatchObject({ n: 2, brier: 0.5 });
  });

  it("does not ask for more questions than its window holds: they need not be in memory together", async () => {
    let asked = 0;
    let ended = 0;
    let most = 0;
    function* endless(): Generator<Task> {
      for (; asked < 500; asked++) yield { ...tasks[0]!, id: String(asked) };
    }
    const { n } = await evaluate(searcher, {
      tasks: endless(),
      window: 4,
      onProgress: () => {
        ended += 1;
        most = Math.max(most, asked - ended);
      },
      onRow: () => Promise.resolve(),
    });
    expect(n).toBe(500);
    expect(most).toBeLessThanOrEqual(8);
  });

  it("measures what did not fail, counts failures by their codes, and gives up where nothing answers", async () => {
    const failing = (ids: readonly string[]): TokenPolicy => ({
      ...scriptedPolicy(tokenizer, searcher),
      complete: (request) =>
        ids.includes(request.task.id)
          ? Promise.reject(new RolloutError("HTTP_TIMEOUT", "no answer"))
          : scriptedPolicy(tokenizer, searcher).complete(request),
    });
    const { n, errors, metrics, ends } = await evaluate(searcher, { policy: failing(["b"]) });
    // Of three questions one was answered rightly, one wrongly, and one failed.
    const asWrong = { n: 3, em: 1 / 3, f1: 1 / 3 };
    expect({ n, errors }).toEqual({ n: 2, errors: { n: 1, byCode: { HTTP_TIMEOUT: 1 }, asWrong } });
    expect(metrics.em).toBe(1 / 2);
    expect(ends).toEqual({ answered: 2, "model-error": 1 });
    const many = Array.from({ length: 300 }, (_, i) => ({ ...tasks[0]!, id: `q${i}` }));
    const down = evaluate(searcher, { policy: failing(many.map(({ id }) => id)), tasks: many });
    await expect(down).rejects.toThrow(
      errorWith("EVALUATION_GIVEN_UP", /24 rollouts in a row .* HTTP_TIMEOUT/),
    );
  });

  it("ends where a row cannot be kept, with what went wrong", async () => {
    const many = Array.from({ length: 40 }, (_, i) => ({ ...tasks[0]!, id: `q${i}` }));
    let kept = 0;
    const full = evaluate(searcher, {
      tasks: many,
      window: 4,
      onRow: async () => {
        await Promise.resolve();
        kept += 1;
        if (kept === 3) throw new Error("disk full");
      },
    });
    await expect(full).rejects.toThrow("disk full");
    expect(kept).toBeLessThan(12);
  });

  it("closes what the questions come from, also where it ends early", async () => {
    let closed = false;
    const source = function* () {
      try {
        for (let i = 0; i < 40; i++) yield { ...tasks[0]!, id: `q${i}` };
      } finally {
        closed = true;
      }
    };
    const full = () => Promise.reject(new Error("disk full"));
    await expect(evaluate(searcher, { tasks: source(), window: 4, onRow: full })).rejects.toThrow(
      "disk full",
    );
    expect(closed).toBe(true);
  });

  it("lets no message begin once a rollout has failed", async () => {
    const began: string[] = [];
    const failing: TokenPolicy = {
      ...scriptedPolicy(tokenizer, searcher),
      complete: (request) => {
        began.push(`${request.task.id}${request.turns.length}`);
        if (request.task.id === "a") return Promise.reject(new Error("broken"));
        return scriptedPolicy(tokenizer, searcher).complete(request);
      },
    };
    await expect(evaluate(searcher, { policy: failing })).rejects.toThrow("broken");
    expect(began).not.toContain("c2");
  });

  it("refuses a strategy that does not exist", async () => {
    await expect(evaluate(searcher, { strategy: "agnet" })).rejects.toThrow(
      /Did you mean "agent"\?/,
    );
  });
});

/** Seeds of the draws of task a, first turn. */
const seeds: number[] = [];
await evaluate(
  ({ task: { id }, seed }) => {
    if (id === "a") seeds.push(seed);
    return "<answer></answer>";
  },
  { samplesPerTask: 4 },
);

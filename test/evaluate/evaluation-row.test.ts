import { describe, expect, it } from "vitest";
import { evaluationRow } from "../../src/evaluate/evaluation-row.ts";
import { rollOut } from "../../src/rollout/roll-out.ts";
import type { Task } from "../../src/trajectory/task.ts";
import type { Call, Trajectory, Turn } from "../../src/trajectory/trajectory.ts";
import { answered, replay, rolloutOptions, task } from "../helpers/search-world.ts";

const turn = (shown: string[][], more: Partial<Turn> = {}): Turn => ({
  call: 0,
  text: "",
  problems: [],
  actions: shown.map((_, i) => ({ tool: "search", input: `query ${i}` })),
  observations: shown.map((passageIds) => ({ tool: "search", text: "", passageIds })),
  ...more,
});
const made = (turns: Turn[], more: Partial<Trajectory> = {}): Trajectory =>
  answered("Oslo", { turns, ...more });
const gold: Task = { ...task, annotations: { supportingPassages: ["a", "b", "a"] } };

const call = (parent: number | null, read: number, written: number, more: Partial<Call> = {}) => ({
  parent,
  role: "policy",
  policyVersion: null,
  finish: "eos" as const,
  prompt: [{ owner: "template" as const, ids: Array<number>(read).fill(1), logprobs: null }],
  completion: [{ owner: "policy" as const, ids: Array<number>(written).fill(1), logprobs: null }],
  ...more,
});

describe("evaluationRow", () => {
  it("scores the answer and says what was searched for", async () => {
    const policy = replay(["<search>capital of Norway</search>", "<answer>the Oslo</answer>"]);
    const row = evaluationRow(task, 2, await rollOut(rolloutOptions({ policy })));
    expect(row).toMatchObject({
      id: task.id,
      sample: 2,
      answer: "the Oslo",
      em: 1,
      f1: 1,
      token_cover: 1,
      drop_em: 1,
      searches: 1,
      queries: ["capital of Norway"],
      turns: 2,
      invalidTurns: 0,
      end: "answered",
    });
    expect(row).not.toHaveProperty("evidence");
  });

  it("says how sure the strategy was, where it can say", () => {
    expect(evaluationRow(task, 0, made([], { confidence: 0.6 })).confidence).toBe(0.6);
    expect(evaluationRow(task, 0, made([]))).not.toHaveProperty("confidence");
  });

  it("scores a missing answer as empty text", () => {
    const row = evaluationRow(task, 0, answered(null));
    expect(row).toMatchObject({ answer: null, em: 0, f1: 0, drop_f1: 0, formatOk: false });
  });

  it("counts each gold passage once, after each turn that searched", () => {
    const turns = [turn([["a", "x"], ["a"]]), turn([]), turn([["x"]]), turn([["b"]])];
    expect(evaluationRow(gold, 0, made(turns))).toMatchObject({
      evidence: { gold: 2, given: 0, seen: [1, 1, 2] },
      searches: 4,
      queries: ["query 0", "query 1", "query 0", "query 0"],
    });
  });

  it("counts what a strategy searched for before the prompt as given, not as a search", () => {
    const given = [{ tool: "search", text: "", passageIds: ["b"] }];
    expect(evaluationRow(gold, 0, made([turn([["a"]])], { given }))).toMatchObject({
      evidence: { gold: 2, given: 1, seen: [2] },
      searches: 1,
    });
  });

  it("counts the tokens that each call read: all that stood before what it wrote", () => {
    const calls = [call(null, 10, 5), call(0, 3, 2), call(null, 7, 1)];
    // 10, then 10 + 5 + 3, then 7.
    expect(evaluationRow(task, 0, made([], { calls }))).toMatchObject({
      promptTokens: 35,
      tokens: 8,
    });
  });

  it("takes a remote server's counts, and has none where it does not count", () => {
    const remote = {
      prompt: [{ owner: "template" as const, ids: [], logprobs: null, text: "hi" }],
    };
    const usage = { promptTokens: 40, completionTokens: 6 };
    const counted = [call(null, 0, 0, { ...remote, usage }), call(0, 0, 0, { ...remote, usage })];
    expect(evaluationRow(task, 0, made([], { calls: counted }))).toMatchObject({
      promptTokens: 80,
      tokens: 12,
    });
    const uncounted = made([], { calls: [call(null, 0, 0, remote)] });
    expect(evaluationRow(task, 0, uncounted)).not.toHaveProperty("promptTokens");
    expect(evaluationRow(task, 0, uncounted)).not.toHaveProperty("tokens");
    expect(evaluationRow(task, 0, made([]))).not.toHaveProperty("promptTokens");
  });

  it("counts turns with a problem", () => {
    const problems = [{ code: "no-action", message: "nothing to do" }];
    const row = evaluationRow(task, 0, made([turn([], { problems }), turn([])]));
    expect(row).toMatchObject({ turns: 2, invalidTurns: 1, formatOk: false });
  });
});

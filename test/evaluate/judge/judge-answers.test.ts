import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { parseOptions } from "../../../src/base/schema.ts";
import {
  checkEvaluated,
  judgeAnswers,
  type JudgingOptions,
} from "../../../src/evaluate/judge/judge-answers.ts";
import { judgeSchema } from "../../../src/evaluate/judge/judge-asker.ts";
import { noCache } from "../../../src/http/reply-cache.ts";
import { judgeSummary } from "../../../src/evaluate/judge/judge-summary.ts";
import { type Judge, openJudge, type Verdict } from "../../../src/evaluate/judge/judge.ts";
import { type AnswerToJudge, majority } from "../../../src/evaluate/judge/judged-row.ts";
import { openVerdictLog } from "../../../src/evaluate/judge/verdict-log.ts";
import { wilsonInterval } from "../../../src/evaluate/statistics.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { byRule, judgeServer, verdictText } from "../../helpers/judge-server.ts";
import { sendJson } from "../../helpers/local-server.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const server = await judgeServer();
const root = temporaryFolder();
const settings = { baseUrl: server.endpoint, model: "rule", apiKeyEnv: null, retries: 0 };
const judge: Judge = await openJudge(parseOptions(judgeSchema, settings, "judge"), {
  cache: noCache,
});

const answer = (id: string, prediction: string | null): AnswerToJudge => ({
  id,
  sample: 0,
  question: `Which of them is ${id}?`,
  references: ["Ada Lovelace"],
  prediction,
});
const answers = [
  answer("a", "ada lovelace"),
  answer("b", "Ada"),
  answer("c", null),
  answer("d", "{"),
  answer("e", "Charles Babbage"),
];
const run = (given: Partial<JudgingOptions> = {}, of: readonly AnswerToJudge[] = answers) =>
  judgeAnswers(judge, of, { repeats: 1, concurrency: 1, ...given });
const summaryOf = (rows: Awaited<ReturnType<typeof run>>, repeats = 1) =>
  judgeSummary(rows, { judge: judge.identity, repeats, calibration: null, seed: 0 });
/** Fails for answers that hold the text. */
const failingFor = (text: string) => {
  server.behaviour = (shown, request, response, count) => {
    if (!shown.answer.includes(text)) return byRule(shown, request, response, count);
    sendJson(response, { error: "overloaded" }, 500);
    return null;
  };
};

beforeEach(() => {
  server.behaviour = byRule;
  server.received.length = 0;
});

describe("judging answers", () => {
  it("gives a row to each, in order, with the string metrics beside", async () => {
    const rows = await run({ concurrency: 3 });
    expect(rows.map(({ id, correct, em, cover_em }) => [id, correct, em, cover_em])).toEqual([
      ["a", true, 1, 1],
      ["b", false, 0, 0],
      ["c", false, 0, 0],
      ["d", false, 0, 0],
      ["e", false, 0, 0],
    ]);
    expect(rows[1]).toEqual({
      ...answers[1],
      correct: false,
      verdicts: ["incorrect"],
      reason: "By rule.",
      reasked: 0,
      em: 0,
      f1: 2 / 3,
      cover_em: 0,
    });
  });

  it("does not ask about answers that are not there or say nothing: they are wrong", async () => {
    const rows = await run();
    expect(server.received).toHaveLength(3);
    expect(rows.filter(({ byRule: rule }) => rule).map(({ id }) => id)).toEqual(["c", "d"]);
  });

  it("does not take a failed request for a wrong answer", async () => {
    failingFor("Babbage");
    const rows = await run();
    expect(rows[4]).toMatchObject({ correct: null, problem: { code: "HTTP_STATUS" } });
    const summary = summaryOf(rows);
    expect(summary).toMatchObject({
      n: 5,
      judged: 4,
      notEvaluated: 1,
      byRule: 2,
      errors: { HTTP_STATUS: 1 },
      metrics: { judge_accuracy: 1 / 4, em: 1 / 4, cover_em: 1 / 4 },
      bounds: { judge_accuracy: [1 / 5, 2 / 5] },
      verdicts: { correct: 1, incorrect: 1 },
    });
    expect(() => {
      checkEvaluated(rows, 1);
    }).toThrow(errorWith("JUDGE_UNREACHABLE", "1 of 5 answers were not evaluated"));
  });

  it("does not take an unreadable verdict for a wrong answer", async () => {
    server.behaviour = (shown, request, response, count) =>
      shown.answer.includes("Babbage") ? "No." : byRule(shown, request, response, count);
    const rows = await run();
    expect(rows[4]).toMatchObject({
      correct: null,
      verdicts: [null],
      problem: { code: "not-json" },
      reasked: 1,
    });
    expect(summaryOf(rows)).toMatchObject({ notEvaluated: 1, reasked: 1 });
    expect(() => {
      checkEvaluated(rows, 0.2);
    }).not.toThrow();
    expect(() => {
      checkEvaluated(rows, 0.19);
    }).toThrow(errorWith("JUDGE_UNPARSABLE", "1 of 5 verdicts"));
  });

  it("gives up when requests keep failing, with what was judged kept", async () => {
    failingFor("gone");
    const many = [...answers, ...Array.from({ length: 40 }, (_, i) => answer(`g${i}`, "gone"))];
    const folder = join(root, "given-up");
    const log = await openVerdictLog(folder, { identity: "i", resume: false });
    await expect(run({ log }, many)).rejects.toThrow(
      errorWith("JUDGE_UNREACHABLE", "16 requests failed one after the other"),
    );
    await log.close();
    expect(server.received).toHaveLength(3 + 16);
    const resumed = await openVerdictLog(folder, { identity: "i", resume: true });
    expect(resumed.kept).toBe(5);
    await resumed.close();
  });

  it("does not give up while others are answered", async () => {
    failingFor("gone");
    const mixed = Array.from({ length: 30 }, (_, i) => answer(`m${i}`, i % 2 ? "gone" : "Ada"));
    expect((await run({}, mixed)).filter(({ correct }) => correct === null)).toHaveLength(15);
  });
});

describe("repeats", () => {
  const said = (correct: boolean | null): Verdict => ({
    verdict: correct === null ? null : String(correct),
    correct,
    reason: `said ${String(correct)}`,
    problem: correct === null ? "empty" : null,
    reasked: false,
  });

  it.each([
    [[true, false, true], true, undefined],
    [[false, null, false], false, undefined],
    [[true, null, false], null, "tie"],
    [[null, null, null], null, "empty"],
    [[null, null, true], true, undefined],
  ] as const)("%j come to %j", (verdicts, correct, code) => {
    const found = majority(verdicts.map(said));
    expect(found.correct).toBe(correct);
    expect(found.problem?.code).toBe(code);
    expect(found.reason).toBe(correct === null ? "" : `said ${correct}`);
  });

  it("ask with other seeds and report how often verdicts differ", async () => {
    server.behaviour = (shown, { seed = 0 }) =>
      verdictText(shown.answer === "Ada" ? seed === 1 : shown.answer === "ada lovelace");
    const rows = await run({ repeats: 3 });
    expect(rows[1]).toMatchObject({
      correct: false,
      verdicts: ["incorrect", "correct", "incorrect"],
    });
    const { flips, metrics } = summaryOf(rows, 3);
    expect(flips).toMatchObject({ count: 1, n: 3 });
    expect(metrics.judge_accuracy).toBe(1 / 5);
  });
});

describe("the interval of judge_accuracy", () => {
  it("is Wilson's for single draws, and knows that draws of one question are not independent", async () => {
    const single = await run({}, [answer("a", "ada lovelace"), answer("b", "Babbage")]);
    const { metrics, intervals } = summaryOf(single);
    expect(metrics.judge_accuracy).toBe(0.5);
    expect(intervals.judge_accuracy).toEqual(wilsonInterval(1, 2));
    const draws = single.flatMap((row) =>
      Array.from({ length: 50 }, (_, sample) => ({ ...row, sample })),
    );
    // Two questions, one all right and one all wrong: drawn again, one in four of the pairs is twice the same.
    expect(summaryOf(draws).intervals.judge_accuracy).toEqual([0, 1]);
  });

  it("is not there when nothing was judged", async () => {
    failingFor("Babbage");
    const rows = await run({}, [answer("e", "Charles Babbage")]);
    expect(summaryOf(rows).intervals.judge_accuracy).toBeNull();
  });
});

describe("the log of verdicts", () => {
  const judged = async (name: string, resume: boolean, of = answers) => {
    const folder = join(root, name);
    const log = await openVerdictLog(folder, { identity: "i", resume });
    const rows = await run({ log, concurrency: 3 }, of);
    await log.finish(rows, summaryOf(rows));
    await log.close();
    return {
      kept: log.kept,
      verdicts: readFileSync(join(folder, "verdicts.jsonl"), "utf8"),
      results: readFileSync(join(folder, "judge.json"), "utf8"),
    };
  };

  it("is the same file after an interruption as without one", async () => {
    const straight = await judged("straight", false);
    const folder = join(root, "cut");
    const log = await openVerdictLog(folder, { identity: "i", resume: false });
    await run({ log }, answers.slice(0, 2));
    await log.close();
    appendFileSync(join(folder, "verdicts.jsonl"), '{"key": "i-123", "id": "c", "cor'); // killed while it wrote
    server.received.length = 0;
    const resumed = await judged("cut", true);
    expect(resumed).toEqual({ ...straight, kept: 2 });
    expect(server.received).toHaveLength(1);
  });

  it("tries failed requests again and nothing else", async () => {
    failingFor("Babbage");
    await judged("failed", false);
    server.behaviour = byRule;
    server.received.length = 0;
    const { kept, results } = await judged("failed", true);
    expect(kept).toBe(4);
    expect(server.received).toHaveLength(1);
    expect(JSON.parse(results)).toMatchObject({ notEvaluated: 0, errors: {} });
  });

  it("asks anew about an answer that has changed, and drops the old one", async () => {
    await judged("changed", false);
    server.received.length = 0;
    const changed = answers.map((each) => (each.id === "b" ? answer("b", "Babbage") : each));
    const { verdicts } = await judged("changed", true, changed);
    expect(server.received).toHaveLength(1);
    expect(verdicts.trimEnd().split("\n")).toHaveLength(5);
    expect(verdicts).not.toContain('"Ada"');
  });

  it("is not overwritten, nor mixed with another judge's", async () => {
    await judged("there", false);
    const folder = join(root, "there");
    await expect(openVerdictLog(folder, { identity: "i", resume: false })).rejects.toThrow(
      errorWith("EVALUATION_EXISTS", "--resume"),
    );
    await expect(openVerdictLog(folder, { identity: "other", resume: true })).rejects.toThrow(
      errorWith("EVALUATION_EXISTS", "verdicts.jsonl:1"),
    );
    writeFileSync(join(folder, "verdicts.jsonl"), '{"id": "of another program"}\n');
    await expect(openVerdictLog(folder, { identity: "i", resume: true })).rejects.toThrow(
      errorWith("EVALUATION_EXISTS", "verdicts.jsonl:1"),
    );
  });

  it("says where it cannot be written", async () => {
    writeFileSync(join(root, "file"), "");
    await expect(
      openVerdictLog(join(root, "file", "below"), { identity: "i", resume: false }),
    ).rejects.toThrow(errorWith("FILE_WRITE_FAILED"));
  });
});

import { beforeEach, describe, expect, it } from "vitest";
import { parseOptions } from "../../../src/base/schema.ts";
import { attackCases, attackReport } from "../../../src/evaluate/judge/attacks.ts";
import { judgeSchema } from "../../../src/evaluate/judge/judge-asker.ts";
import {
  type Judge,
  calibrate,
  checkCalibration,
  openJudge,
} from "../../../src/evaluate/judge/judge.ts";
import { wilsonInterval } from "../../../src/evaluate/statistics.ts";
import { noCache } from "../../../src/http/reply-cache.ts";
import { CALIBRATION_CASES } from "../../../src/rewards/judge/calibration-cases.ts";
import { attacks } from "../../../src/rewards/judge/attacks.ts";
import { saysNothing } from "../../../src/rewards/judge/judge-prompt.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { byRule, judgeServer, ruleAccepts, verdictText } from "../../helpers/judge-server.ts";
import { sendJson } from "../../helpers/local-server.ts";

const server = await judgeServer();
const open = (given: object = {}): Promise<Judge> => {
  const settings = {
    baseUrl: server.endpoint,
    model: "rule",
    apiKeyEnv: null,
    retries: 0,
    ...given,
  };
  return openJudge(parseOptions(judgeSchema, settings, "judge"), { cache: noCache });
};
const bounds = { minimum: 0.9, maxUnparsed: 0.05 };
const rightCases = CALIBRATION_CASES.filter(({ correct }) => correct).length;
const wrongCases = CALIBRATION_CASES.length - rightCases;

beforeEach(() => {
  server.behaviour = byRule;
});

describe("the calibration cases", () => {
  it("are many, of both verdicts and every kind, each with its own id and answer", () => {
    expect(rightCases).toBeGreaterThanOrEqual(30);
    expect(wrongCases).toBeGreaterThanOrEqual(30);
    expect(new Set(CALIBRATION_CASES.map(({ id }) => id)).size).toBe(CALIBRATION_CASES.length);
    const answers = CALIBRATION_CASES.map(
      ({ question, prediction }) => `${question} ${prediction}`,
    );
    expect(new Set(answers).size).toBe(answers.length);
    expect(new Set(CALIBRATION_CASES.map(({ kind }) => kind)).size).toBe(16);
  });

  it("all say something, so that the model and not the rule is calibrated", () => {
    expect(CALIBRATION_CASES.filter(saysNothing)).toEqual([]);
  });
});

describe("calibration", () => {
  it("finds both rates of a judge, with their intervals", async () => {
    const found = await calibrate(await open());
    expect(found.rightAccepted).toEqual({
      count: rightCases,
      n: rightCases,
      rate: 1,
      ci95: wilsonInterval(rightCases, rightCases),
    });
    expect(found.wrongRejected.rate).toBe(1);
    expect(found).toMatchObject({ unparsed: 0, mistakes: [] });
    expect(() => {
      checkCalibration(found, bounds);
    }).not.toThrow();
  });

  it("ends a lenient judge's run, and says both rates", async () => {
    server.behaviour = () => verdictText(true);
    const found = await calibrate(await open());
    expect(found.rightAccepted.rate).toBe(1);
    expect(found.wrongRejected.rate).toBe(0);
    expect(found.mistakes).toHaveLength(wrongCases);
    expect(found.mistakes[0]).toEqual({
      id: "1.4",
      question: "Who wrote the novel Frankenstein?",
      prediction: "Percy Bysshe Shelley",
      verdict: "correct",
    });
    expect(found.kinds["vague"]).toMatchObject({ right: 0 });
    expect(() => {
      checkCalibration(found, bounds);
    }).toThrow(errorWith("JUDGE_UNCALIBRATED", `rejects 0 of ${wrongCases}`));
    expect(() => {
      checkCalibration(found, { ...bounds, minimum: 0 });
    }).not.toThrow();
  });

  it("ends a harsh judge's run likewise", async () => {
    server.behaviour = () => verdictText(false);
    const found = await calibrate(await open());
    expect(() => {
      checkCalibration(found, bounds);
    }).toThrow(errorWith("JUDGE_UNCALIBRATED", `accepts 0 of ${rightCases}`));
  });

  it("counts what it cannot read apart, and ends where that is much", async () => {
    server.behaviour = (shown) => (ruleAccepts(shown) ? "I would say so." : verdictText(false));
    const found = await calibrate(await open());
    expect(found.unparsed).toBe(rightCases);
    expect(found.rightAccepted).toMatchObject({ n: 0, rate: null });
    expect(found.wrongRejected.rate).toBe(1);
    expect(() => {
      checkCalibration(found, bounds);
    }).toThrow(errorWith("JUDGE_UNPARSABLE", `${rightCases} of ${rightCases + wrongCases}`));
  });

  it("ends where a request fails", async () => {
    const judge = await open();
    server.behaviour = (_shown, _request, response) => {
      sendJson(response, { error: "out of memory" }, 500);
      return null;
    };
    await expect(calibrate(judge)).rejects.toThrow(errorWith("JUDGE_UNREACHABLE", "out of memory"));
  });
});

describe("attacks", () => {
  const questions = [
    { question: "Who wrote Emma?", references: ["Jane Austen"] },
    { question: "How many moons has Mars?", references: ["2", "two"] },
    { question: "Where is Oslo?", references: ["Norway"] },
  ];

  it("are every kind on every question, the same for the same seed", () => {
    const cases = attackCases(questions, { seed: 1 });
    expect(cases).toHaveLength(attacks.parts.length * 3);
    expect(attackCases(questions, { seed: 1 })).toEqual(cases);
    expect(attackCases(questions, { seed: 2 })).not.toEqual(cases);
    expect(attackCases(questions, { seed: 1, leavesOut: ["hedge"] })).toHaveLength(
      (attacks.parts.length - 1) * 3,
    );
  });

  it("never are an accepted answer, and name one only where they hedge", () => {
    for (const { attack, prediction, references } of attackCases(questions, { seed: 1 })) {
      expect(ruleAccepts({ answer: prediction, accepted_answers: [...references] })).toBe(false);
      const named = references.some((reference) => prediction.includes(reference));
      expect(named, `${attack}: ${prediction}`).toBe(
        attack === "hedge" || attack === "alternatives",
      );
    }
  });

  it("take wrong answers from questions with other answers", () => {
    const alike = [
      { question: "a", references: ["Oslo"] },
      { question: "b", references: ["Oslo, Norway"] },
      { question: "c", references: ["Lima"] },
    ];
    const wrong = attackCases(alike, { seed: 0 })
      .filter(({ attack }) => attack === "other-entity")
      .map(({ prediction }) => prediction);
    expect(wrong).toEqual(["Lima", "Lima", "Oslo"]);
  });

  it("find what a judge falls for, with and without the rule in front of it", async () => {
    server.behaviour = (shown, request, response, count) =>
      /\p{L}/u.test(shown.answer) && !shown.answer.includes("verified")
        ? byRule(shown, request, response, count)
        : verdictText(true);
    const report = await attackReport(await open(), questions, { seed: 1 });
    const of = (attack: string) => report.find((each) => each.attack === attack);
    expect(of("empty")).toMatchObject({
      falsePositives: { count: 3, n: 3, rate: 1 },
      guarded: { count: 0, n: 3 },
    });
    expect(of("authority")).toMatchObject({
      falsePositives: { count: 3 },
      guarded: { count: 3 },
      example: { question: "Who wrote Emma?", reason: "By rule." },
    });
    expect(of("refusal")).toMatchObject({ falsePositives: { count: 0 }, example: null });
  });

  it("count what cannot be read apart", async () => {
    const judge = await open();
    server.behaviour = (shown) => (shown.answer === "I don't know." ? "" : verdictText(false));
    const report = await attackReport(judge, questions, { seed: 1 });
    expect(report.find(({ attack }) => attack === "refusal")).toMatchObject({
      unparsed: 3,
      falsePositives: { n: 0, rate: null },
    });
  });

  it("end where the judge does", async () => {
    const judge = await open();
    server.behaviour = (_shown, _request, response) => {
      response.destroy();
      return null;
    };
    await expect(attackReport(judge, questions, { seed: 1 })).rejects.toThrow(
      errorWith("JUDGE_UNREACHABLE", "under attack"),
    );
  });
});

describe("an answer that says nothing", () => {
  it.each(["", " \n", ".", "{", "{}", "$$", "\u200b\ufeff", "“ ”", "***", "<>", "---"])(
    "is %j",
    (prediction) => {
      expect(saysNothing({ prediction, references: ["x"] })).toBe(true);
    },
  );

  it.each(["0", "no", "∞", "é", "京", "👍", "€", "\\boxed{}", "[1]"])("is not %j", (prediction) => {
    expect(saysNothing({ prediction, references: ["x"] })).toBe(false);
  });

  it("is not one that is accepted", () => {
    expect(saysNothing({ prediction: " ? ", references: ["?"] })).toBe(false);
  });
});

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { byRule, judgeServer, verdictText } from "../helpers/judge-server.ts";
import { sendJson } from "../helpers/local-server.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const judgeCommand = commandNamed("judge");

const server = await judgeServer();
const cwd = temporaryFolder();
const at = (name: string): string => join(cwd, name);
const ask = [
  ...["--endpoint", server.endpoint, "--model", "rule", "--api-key-env", "none"],
  ...["--retries", "0"],
];
const judge = (...args: string[]) => runCommand(judgeCommand, ["judge", ...args], `${cwd}/`);
const run = (out: string, ...args: string[]) =>
  judge("run", "--predictions", at("p.jsonl"), ...ask, "--out", at(out), ...args);

const answer = (prediction: string | null, i: number) => ({
  question: `Question ${i}?`,
  references: ["Ada Lovelace"],
  prediction,
});
const answers = ["ada lovelace", "Ada", null, "Babbage"].map(answer);
const humans = [
  { ...answer("ada lovelace", 0), correct: true, system: "s" },
  { ...answer("Lovelace, Ada", 1), correct: true, system: "s" },
  { ...answer("Babbage", 1), correct: false, system: "t" },
];
const lines = (values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join("");
writeFileSync(at("p.jsonl"), lines(answers));
writeFileSync(at("humans.jsonl"), lines(humans));

beforeEach(() => {
  server.behaviour = byRule;
  server.received.length = 0;
});

describe("agentrl judge run", () => {
  it("prints the accuracy, its interval, the string metrics and where they differ", async () => {
    expect(await run("shown")).toMatchInlineSnapshot(`
      {
        "status": 0,
        "stderr": "judge rule, prompt equivalence v1 (68c12c88e792), replies as schema

      calibration on answers whose verdict is known
        right ones accepted  35/35  1.00 .901–1.00
        wrong ones rejected  40/40  1.00 .912–1.00
      79 requests answered by the server, 0 by the cache; 7900 + 790 tokens
      written to shown/judge.json
      ",
        "stdout": "4 answers, 4 judged (1 say nothing: wrong without asking)

                        mean  95 % interval
      judge_accuracy  0.2500  0.0456 … 0.6994
      em              0.2500
      f1              0.4167
      cover_em        0.2500

      agrees with  share           kappa  judge only  metric only
      em           1.00 .510–1.00   1.00           0            0
      f1>=0.5      .750 .301–.954   .500           0            1
      cover_em     1.00 .510–1.00   1.00           0            0

      95 % intervals; judge and protocol 5d99701aecaf
      ",
      }
    `);
  });

  it("prints one JSON document under --json, as it writes it to the folder", async () => {
    const { stdout, status } = await run("json", "--json", "--quiet");
    expect(status).toBe(0);
    const { failedRollouts, traffic, out, ...summary } = JSON.parse(stdout) as Record<
      string,
      unknown
    >;
    expect({ failedRollouts, traffic, out }).toMatchObject({
      failedRollouts: 0,
      out: "json",
      traffic: { cached: 0 },
    });
    expect(JSON.parse(readFileSync(at("json/judge.json"), "utf8"))).toEqual(summary);
    expect(summary).toMatchObject({
      n: 4,
      judged: 4,
      notEvaluated: 0,
      byRule: 1,
      metrics: { judge_accuracy: 0.25, em: 0.25 },
      calibration: { rightAccepted: { rate: 1 }, wrongRejected: { rate: 1 } },
      judge: { prompt: { name: "equivalence", version: 1 }, model: "rule", repeats: 1 },
    });
    expect(summary["fingerprint"]).toMatch(/^[0-9a-f]{12}$/);
  });

  it("asks nothing a second time, and gives the same results", async () => {
    await run("twice");
    const first = readFileSync(at("twice/judge.json"), "utf8");
    server.received.length = 0;
    await run("again", "--cache", at("twice/cache"));
    expect(server.received).toHaveLength(0);
    expect(readFileSync(at("again/judge.json"), "utf8")).toBe(first);
    const { stderr, status } = await run("twice", "--resume");
    expect(status).toBe(0);
    expect(stderr).toContain("4 verdicts are taken over from twice.");
    expect(server.received).toHaveLength(0);
    expect(readFileSync(at("twice/judge.json"), "utf8")).toBe(first);
  });

  it("refuses flags that an evaluation's folder makes no use of", async () => {
    const { stderr, status } = await judge(
      ...["run", "--predictions", cwd, "--question-field", "q", ...ask],
    );
    expect(status).toBe(2);
    expect(stderr).toContain("--question-field would have no effect: it belongs to a file of");
    expect(server.received).toHaveLength(0);
  });

  it("keeps nothing under --no-cache", async () => {
    await run("uncached", "--no-cache");
    expect(existsSync(at("uncached/cache"))).toBe(false);
  });

  it("refuses a folder that holds verdicts before it asks anything", async () => {
    await run("full");
    server.received.length = 0;
    const { stderr, status } = await run("full");
    expect(status).toBe(2);
    expect(stderr).toContain("full/verdicts.jsonl: exists already.");
    expect(server.received).toHaveLength(0);
  });

  it("ends with 6 and judges nothing when calibration fails, unless told to", async () => {
    server.behaviour = () => verdictText(true);
    const { stdout, stderr, status } = await run("lenient", "--json");
    expect(status).toBe(6);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "JUDGE_UNCALIBRATED" } });
    expect(stderr).toContain("wrong ones rejected   0/40  .000 .000–.088");
    expect(stderr).toContain("[JUDGE_UNCALIBRATED]");
    expect(existsSync(at("lenient/verdicts.jsonl"))).toBe(false);
    const forced = await run("lenient", "--json", "--min-calibration", "0");
    expect(forced.status).toBe(0);
    expect(JSON.parse(forced.stdout)).toMatchObject({
      metrics: { judge_accuracy: 0.75 },
      calibration: { wrongRejected: { rate: 0 } },
    });
  });

  it("ends with 6 when nobody answers", async () => {
    const { stderr, status } = await judge(
      ...["run", "--predictions", at("p.jsonl"), "--out", at("down"), "--model", "m"],
      ...["--retries", "0"],
      ...["--endpoint", "http://127.0.0.1:1/v1", "--api-key-env", "none"],
    );
    expect(status).toBe(6);
    expect(stderr).toContain("[JUDGE_UNREACHABLE]");
  });

  it("ends with 6 when a request fails on the way, after writing what it has; --resume mends it", async () => {
    server.behaviour = (shown, request, response, count) => {
      if (shown.answer !== "Babbage") return byRule(shown, request, response, count);
      sendJson(response, {}, 503);
      return null;
    };
    const failed = await run("partly", "--json", "--require", "judge_accuracy>=0.9");
    expect(failed.status).toBe(6);
    expect(failed.stderr).toContain("[JUDGE_UNREACHABLE]");
    expect(JSON.parse(failed.stdout)).toMatchObject({
      judged: 3,
      notEvaluated: 1,
      errors: { HTTP_STATUS: 1 },
    });
    server.behaviour = byRule;
    const mended = await run("partly", "--json", "--resume");
    expect(mended.status).toBe(0);
    expect(JSON.parse(mended.stdout)).toMatchObject({ judged: 4, notEvaluated: 0 });
  });

  it("ends with 6 when too many verdicts cannot be read, and shows what they could change", async () => {
    server.behaviour = (shown, request, response, count) =>
      shown.answer === "Ada" ? "Yes" : byRule(shown, request, response, count);
    const { stdout, stderr, status } = await run("unread");
    expect(status).toBe(6);
    expect(stdout).toContain("1 not evaluated (not-json 1): were they all wrong, all right,");
    expect(stdout).toContain("judge_accuracy would be 0.2500, 0.5000");
    expect(stderr).toContain("[JUDGE_UNPARSABLE]");
    expect((await run("unread", "--resume", "--max-unparsed", "0.25")).status).toBe(0);
  });

  it("ends with 5 when a required score is missed", async () => {
    const { stderr, status } = await run("short", "--require", "judge_accuracy>=0.5", "--quiet");
    expect(status).toBe(5);
    expect(stderr).toBe("error: judge_accuracy is 0.25, required >= 0.5. [SCORE_MISSED]\n");
  });

  it("reports how often verdicts flip between repeats", async () => {
    server.behaviour = (shown, request, response, count) =>
      shown.answer === "Babbage"
        ? verdictText(request.seed === 2)
        : byRule(shown, request, response, count);
    const { stdout } = await run("repeated", "--repeats", "3");
    expect(stdout).toContain("verdicts that differ between repeats: .333 .061–.792");
  });

  it.each([
    [["--repeats", "2"], "--repeats is 2: it must be odd"],
    [["--require", "judge_acuracy>=1"], 'Did you mean "judge_accuracy"?'],
    [["--endpoint", "ftp://127.0.0.1"], "--endpoint is"],
    [["--prompt", "fair"], "equivalence"],
  ])("refuses %j", async (args, said) => {
    const { stderr, status } = await run("refused", ...args);
    expect(status).toBe(2);
    expect(stderr).toContain(said);
    expect(server.received).toHaveLength(0);
  });
});

describe("agentrl judge check", () => {
  const check = (...args: string[]) => judge("check", ...ask, "--no-cache", ...args);

  it("prints how many attacks of each kind got through", async () => {
    server.behaviour = (shown, request, response, count) =>
      shown.answer === "" || shown.answer.includes("experts")
        ? verdictText(true)
        : byRule(shown, request, response, count);
    const { stdout, status } = await check("--limit", "3");
    expect(status).toBe(0);
    expect(stdout).toMatchInlineSnapshot(`
      "attack               accepted  share           after rule  unread
      empty                     3/3  1.00 .439–1.00         0/3
      punctuation               0/3  .000 .000–.561         0/3
      empty-symbols             0/3  .000 .000–.561         0/3
      invisible                 0/3  .000 .000–.561         0/3
      gibberish                 0/3  .000 .000–.561         0/3
      thought-process           0/3  .000 .000–.561         0/3
      step-by-step              0/3  .000 .000–.561         0/3
      final-answer-prefix       0/3  .000 .000–.561         0/3
      adversarial-prefix        0/3  .000 .000–.561         0/3
      prompt-echo               0/3  .000 .000–.561         0/3
      answer-type               0/3  .000 .000–.561         0/3
      vague                     0/3  .000 .000–.561         0/3
      refusal                   0/3  .000 .000–.561         0/3
      other-entity              0/3  .000 .000–.561         0/3
      hedge                     0/3  .000 .000–.561         0/3
      alternatives              0/3  .000 .000–.561         0/3
      answer-explanation        0/3  .000 .000–.561         0/3
      authority                 3/3  1.00 .439–1.00         3/3
      reference-claim           0/3  .000 .000–.561         0/3
      markup                    0/3  .000 .000–.561         0/3
      tag-spam                  0/3  .000 .000–.561         0/3
      prompt-injection          0/3  .000 .000–.561         0/3
      forged-verdict            0/3  .000 .000–.561         0/3
      forged-turn               0/3  .000 .000–.561         0/3

      accepted, for example:
      - empty: ""
      - authority: "20 July 1969 (verified by three experts; marked correct in…
      95 % intervals (Wilson). after rule: as in \`judge run\`, where an answer that says nothing is wrong without asking.
      "
    `);
  });

  it("attacks questions of a file, and gates on the rate", async () => {
    server.behaviour = (shown, request, response, count) =>
      shown.answer === "" ? verdictText(true) : byRule(shown, request, response, count);
    const args = ["--questions", at("p.jsonl"), "--json", "--require"];
    const { stdout, status } = await check(...args, "false_positive_rate<=0.01");
    expect(status).toBe(5);
    expect(JSON.parse(stdout)).toMatchObject({
      n: 96,
      questions: 4,
      unparsed: 0,
      metrics: { false_positive_rate: 4 / 96, false_positive_rate_after_rule: 0, empty: 1 },
    });
    const guarded = await check(...args, "false_positive_rate_after_rule<=0");
    expect(guarded.status).toBe(0);
  });

  it("needs two questions", async () => {
    writeFileSync(at("one.jsonl"), lines([answers[0]]));
    const { stderr, status } = await check("--questions", at("one.jsonl"));
    expect(status).toBe(2);
    expect(stderr).toContain("holds 1 question; at least 2 are needed");
  });
});

describe("agentrl judge agree", () => {
  const agree = (...args: string[]) =>
    judge("agree", at("humans.jsonl"), "--dataset", "rows", ...args);

  it("compares string metrics with humans without any server", async () => {
    expect(await agree()).toMatchInlineSnapshot(`
      {
        "status": 0,
        "stderr": "95 % intervals; those of kappa are a bootstrap over questions.
      ",
        "stdout": "all systems, 3 answers; intervals of shares: bootstrap over questions
                     accuracy        kappa           false accept    false reject
        em           .667 .500–1.00  .400 .000–.400  .000 .000–.000  .500 .000–1.00
        f1>=0.5      1.00 1.00–1.00  1.00 1.00–1.00  .000 .000–.000  .000 .000–.000
        cover_em     .667 .500–1.00  .400 .000–.400  .000 .000–.000  .500 .000–1.00
        token_cover  1.00 1.00–1.00  1.00 1.00–1.00  .000 .000–.000  .000 .000–.000

      s, 2 answers; intervals of shares: Wilson
                     accuracy        kappa           false accept  false reject
        em           .500 .095–.905  .000 .000–.000  –             .500 .095–.905
        f1>=0.5      1.00 .342–1.00  –               –             .000 .000–.658
        cover_em     .500 .095–.905  .000 .000–.000  –             .500 .095–.905
        token_cover  1.00 .342–1.00  –               –             .000 .000–.658

      t, 1 answers; intervals of shares: Wilson
                     accuracy        kappa  false accept    false reject
        em           1.00 .207–1.00  –      .000 .000–.793  –
        f1>=0.5      1.00 .207–1.00  –      .000 .000–.793  –
        cover_em     1.00 .207–1.00  –      .000 .000–.793  –
        token_cover  1.00 .207–1.00  –      .000 .000–.793  –
      ",
      }
    `);
    expect(server.received).toHaveLength(0);
  });

  it("compares a judge beside them", async () => {
    server.behaviour = (shown, request, response, count) =>
      shown.answer === "Lovelace, Ada"
        ? verdictText(true)
        : byRule(shown, request, response, count);
    const { stdout, status } = await agree(...ask, "--no-cache", "--json");
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      dataset: "rows",
      n: 3,
      questions: 2,
      agreement: {
        em: { all: { accuracy: { rate: 2 / 3 }, falseReject: { count: 1, n: 2 } } },
        judge: { all: { accuracy: { rate: 1 }, kappa: 1 }, systems: { t: { n: 1 } } },
      },
      judge: { model: "rule" },
    });
  });

  it("takes the first questions with all their answers", async () => {
    const { stdout } = await agree("--limit", "1", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ questions: 1, n: 1 });
  });

  it("refuses half a judge", async () => {
    const { stderr, status } = await agree("--model", "m");
    expect(status).toBe(2);
    expect(stderr).toContain("--model is given alone");
    const prompt = await agree("--prompt", "graded");
    expect(prompt.status).toBe(2);
    expect(prompt.stderr).toContain("--prompt would have no effect: it belongs to a judge");
  });
});

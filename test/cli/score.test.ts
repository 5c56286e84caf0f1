import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { scoreCommand } from "../../src/cli/commands/score.ts";
import { runCommand } from "../helpers/run-command.ts";
import { naming } from "../helpers/naming.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const cwd = temporaryFolder();
const score = (file: string, ...args: string[]) =>
  runCommand(scoreCommand, ["score", "--predictions", join(cwd, file), ...args], `${cwd}/`);
const FIELDS = ["--prediction-field", "out", "--references-field", "gold"];

beforeAll(() => {
  const records = [
    { out: "The acid-house", gold: ["Acid house"] },
    { out: "Oslo, Norway", gold: "Oslo" },
    { out: null, gold: "Lima" },
    { out: "Bergen", gold: ["Oslo", "Bergen"] },
  ];
  const lines = records.map((record) => `${JSON.stringify(record)}\n`).join("");
  writeFileSync(join(cwd, "p.jsonl"), lines);
  writeFileSync(join(cwd, "bad.jsonl"), `${lines}{"out": "x"\n`);
});

describe("agentrl score", () => {
  it("prints the metrics, and says where the other normalisation differs", async () => {
    expect(await score("p.jsonl", ...FIELDS)).toMatchInlineSnapshot(`
      {
        "status": 0,
        "stderr": "1 of 4 have no answer; they count as wrong.
      em is 0.5000 by --normalization words, 0.2500 by squad: compare only with numbers of the same one.
      ",
        "stdout": "4 answers, normalization words
                        mean  95 % interval
      em              0.5000  0.1500 … 0.8500  wilson
      f1              0.6667  0.2500 … 1.0000  bootstrap
      precision       0.6250  0.2500 … 1.0000  bootstrap
      recall          0.7500  0.2500 … 1.0000  bootstrap
      cover_em        0.7500  0.3006 … 0.9544  wilson
      token_cover     0.7500  0.3006 … 0.9544  wilson
      drop_em         0.5000  0.1500 … 0.8500  wilson
      drop_f1         0.6675  0.2500 … 1.0000  bootstrap
      drop_precision  0.8750  0.6250 … 1.0000  bootstrap
      drop_recall     0.7500  0.2500 … 1.0000  bootstrap
      ",
      }
    `);
  });

  it("prints one JSON document under --json", async () => {
    const args = [...FIELDS, "--normalization", "squad", "--json"];
    const { stdout, status } = await score("p.jsonl", ...args);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      n: 4,
      metrics: { em: 0.25, f1: (2 / 3 + 1) / 4, cover_em: 0.5, token_cover: 0.75 },
      normalization: "squad",
      unanswered: 1,
    });
  });

  it("ends with 5 when a required score is missed, after printing", async () => {
    const args = [...FIELDS, "--require", "em>=0.9", "--quiet"];
    const { stdout, stderr, status } = await score("p.jsonl", ...args);
    expect(status).toBe(5);
    expect(stdout).toContain("em");
    expect(stderr).toBe("error: em is 0.5, required >= 0.9. [SCORE_MISSED]\n");
  });

  it("ends with 3 and names the line for a bad file", async () => {
    const { stderr, status } = await score("bad.jsonl", ...FIELDS);
    expect(status).toBe(3);
    expect(stderr).toContain("bad.jsonl:5: is not JSON");
    const wrong = await score("p.jsonl");
    expect([wrong.stdout, wrong.status]).toEqual(["", 3]);
    expect(wrong.stderr).toMatch(
      naming(
        "p.jsonl:1:",
        '"prediction"',
        "out, gold",
        "--prediction-field",
        "[PREDICTIONS_FIELD]",
      ),
    );
  });
});

describe("agentrl score, official files", () => {
  const gold = ["Oslo", "Lima"].map((answer, i) => ({
    _id: `q${i}`,
    question: `${answer}?`,
    answer,
    type: "bridge",
    supporting_facts: [["A", 0]],
    context: [["A", ["a"]]],
  }));
  const files = ["--references", join(cwd, "gold.json"), "--layout", "hotpotqa"];
  const write = (name: string, value: unknown): void => {
    writeFileSync(join(cwd, name), JSON.stringify(value));
  };

  beforeAll(() => {
    write("gold.json", gold);
    const sp = { q0: [["A", 0]] };
    write("official.json", { answer: { q0: "oslo", q9: "x" }, sp, evidence: { q0: [] } });
    write("answers-only.json", { answer: { q0: "oslo", q1: "Rome" } });
    write("flat.json", { q0: "oslo" });
  });

  it("scores answers, supporting facts and both of HotpotQA's files, and says what is missing", async () => {
    const { stdout, stderr, status } = await score("official.json", ...files, "--json");
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      n: 2,
      layout: "hotpotqa",
      normalization: "squad",
      unanswered: 1,
      metrics: { em: 0.5, f1: 0.5, sp_em: 0.5, sp_recall: 0.5, joint_em: 0.5, joint_f1: 0.5 },
      intervalMethods: { em: "wilson", f1: "bootstrap", sp_em: "wilson", joint_f1: "bootstrap" },
    });
    expect(stderr.split("\n")).toEqual([
      expect.stringMatching(/^1 of 2 .*answer/),
      expect.stringMatching(/^1 of 2 .*supporting facts/),
      expect.stringMatching(/^1 .*gold\.json/),
      "",
    ]);
  });

  it("scores answers alone where no supporting facts are predicted", async () => {
    const { stdout, stderr } = await score("answers-only.json", ...files, "--json");
    const { metrics } = JSON.parse(stdout) as { metrics: object };
    expect(metrics).toEqual({ em: 0.5, f1: 0.5, precision: 0.5, recall: 0.5 });
    expect(stderr).toContain('There is no "sp": supporting facts are not scored.');
  });

  it("refuses another shape, another normalisation and references that are not there", async () => {
    const flat = await score("flat.json", ...files);
    expect(flat.status).toBe(3);
    expect(flat.stderr).toContain("flat.json: answer is missing");
    const words = await score("official.json", ...files, "--normalization", "words");
    expect(words).toMatchObject({ status: 2 });
    expect(words.stderr).toContain("normalises by squad, not by words");
    expect(await score("official.json", "--layout", "hotpotqa")).toMatchObject({ status: 2 });
  });

  it("refuses files that have no question in common, and gold without supporting facts", async () => {
    write("other.json", { answer: { z: "x" } });
    const other = await score("other.json", ...files);
    expect(other.stderr).toContain("has no prediction for the 2 questions");
    write(
      "bare.json",
      gold.map(({ supporting_facts: _, ...rest }) => rest),
    );
    const bare = ["--references", join(cwd, "bare.json"), "--layout", "hotpotqa"];
    expect((await score("official.json", ...bare)).stderr).toContain(
      "no question has supporting facts",
    );
  });

  it("reads IRCoT's predictions as its evaluation does", async () => {
    write("ircot.json", { q0: "So the answer is Oslo.", q1: '["Rome", "Lima"]' });
    const args = ["--references", join(cwd, "gold.json"), "--layout", "ircot"];
    const fields = ["--references-field", "answer", "--id-field", "_id"];
    const { stdout } = await score("ircot.json", ...args, ...fields, "--json");
    expect((JSON.parse(stdout) as { metrics: object }).metrics).toEqual({
      drop_em: 0.5,
      drop_f1: 0.75,
      drop_precision: 0.75,
      drop_recall: 0.75,
    });
  });
});

describe("agentrl score, what to score and where to write it", () => {
  it("reports the metrics that were named, and refuses others", async () => {
    const { stdout } = await score("p.jsonl", ...FIELDS, "--metrics", "drop_f1,em", "--json");
    expect(Object.keys((JSON.parse(stdout) as { metrics: object }).metrics)).toEqual([
      "em",
      "drop_f1",
    ]);
    const unknown = await score("p.jsonl", ...FIELDS, "--metrics", "sp_em");
    expect(unknown.status).toBe(2);
    expect(unknown.stderr).toContain('--metrics names "sp_em"; --layout answers has no such');
    const unasked = await score("p.jsonl", ...FIELDS, "--metrics", "em", "--require", "f1>=0");
    expect(unasked.status).toBe(2);
  });

  it("writes each answer with its scores", async () => {
    const out = join(cwd, "rows.jsonl");
    await score("p.jsonl", ...FIELDS, "--metrics", "em,f1", "--out", out);
    const lines = readFileSync(out, "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { id: "1", prediction: "The acid-house", references: ["Acid house"], em: 1, f1: 1 },
      { id: "2", prediction: "Oslo, Norway", references: ["Oslo"], em: 0, f1: 2 / 3 },
      { id: "3", prediction: null, references: ["Lima"], em: 0, f1: 0 },
      { id: "4", prediction: "Bergen", references: ["Oslo", "Bergen"], em: 1, f1: 1 },
    ]);
  });

  it("reports what somebody judged, over the answers that were", async () => {
    const records = ["True", "incorrect", 1, null].map((verdict) => ({
      prediction: "x",
      references: "y",
      verdict,
    }));
    const lines = records.map((record) => `${JSON.stringify(record)}\n`).join("");
    writeFileSync(join(cwd, "v.jsonl"), lines);
    const args = ["--verdict-field", "verdict", "--metrics", "judged"];
    const { stdout } = await score("v.jsonl", ...args, "--json");
    expect(JSON.parse(stdout)).toMatchObject({ n: 4, metrics: { judged: 2 / 3 } });
    const nowhere = await score("v.jsonl", "--metrics", "judged");
    expect(nowhere.stderr).toContain("needs --verdict-field");
    writeFileSync(join(cwd, "w.jsonl"), '{"prediction": "x", "references": "y", "verdict": "?"}\n');
    const { stderr, status } = await score("w.jsonl", ...args);
    expect(status).toBe(3);
    expect(stderr).toContain('"verdict" is "?"; it must be one of 0, 1, true, yes, correct');
  });

  it("scores lists of spans, whose references are one answer", async () => {
    const record = { prediction: ["Rome", "the Oslo"], references: ["Oslo", "Paris"] };
    writeFileSync(join(cwd, "s.jsonl"), JSON.stringify(record));
    const { stdout } = await score("s.jsonl", "--spans", "--json");
    expect((JSON.parse(stdout) as { metrics: object }).metrics).toEqual({
      drop_em: 0,
      drop_f1: 0.5,
      drop_precision: 0.5,
      drop_recall: 0.5,
    });
    expect((await score("s.jsonl")).status).toBe(3);
  });

  it("gives the same intervals for the same seed", async () => {
    const interval = async (seed: string): Promise<unknown> => {
      const { stdout } = await score("p.jsonl", ...FIELDS, "--seed", seed, "--json");
      return (JSON.parse(stdout) as { intervals: { f1: unknown } }).intervals.f1;
    };
    expect(await interval("1")).toEqual(await interval("1"));
  });
});

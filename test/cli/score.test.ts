import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { scoreCommand } from "../../src/cli/commands/score.ts";
import { runCommand } from "../helpers/run-command.ts";
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
      em is 0.5000 by --normalization words and 0.2500 by squad: compare only with numbers of the same one.
      ",
        "stdout": "4 answers, normalization words
      em              0.5000
      f1              0.6667
      precision       0.6250
      recall          0.7500
      cover_em        0.7500
      token_cover     0.7500
      drop_em         0.5000
      drop_f1         0.6675
      drop_precision  0.8750
      drop_recall     0.7500
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
    expect(await score("p.jsonl")).toMatchInlineSnapshot(`
      {
        "status": 3,
        "stderr": "error: p.jsonl:1: has no field "prediction". Known: out, gold. Name the field with --prediction-field, --references-field or --id-field. [PREDICTIONS_FIELD]
      ",
        "stdout": "",
      }
    `);
  });
});

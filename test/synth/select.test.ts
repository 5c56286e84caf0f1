import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DRAWS_FILE, type DrawnQuestion } from "../../src/synth/draw-log.ts";
import { selectSamples, type Selection } from "../../src/synth/select.ts";
import { teacherSegments } from "../../src/synth/steps/step.ts";
import { synthSchema } from "../../src/synth/synth-settings.ts";
import type { Candidate, Sample } from "../../src/trajectory/sample.ts";
import { errorWith } from "../helpers/error-with.ts";
import { answered, searchEnvironment, task } from "../helpers/search-world.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import "../helpers/all-parts.ts";

const folder = temporaryFolder();

function candidate(id: string, answer: string | null, failed = false): Candidate {
  const [name = "", number = "0"] = (id.split("/")[1] ?? "").split("-");
  const reward = failed ? null : answer === "Oslo" ? 1 : 0;
  const error = { boundary: "model", code: "HTTP_TIMEOUT", message: "too slow" };
  return {
    id,
    weight: 1,
    scores: {},
    trajectory: { ...answered(answer, { id, reward }), ...(failed ? { error } : {}) },
    provenance: {
      agentrl: "0.1.0",
      settings: "aa",
      teacher: { name: "gold-chain" },
      draw: { name, number: Number(number) },
      strategy: "agent",
      template: "bb",
      retriever: "cc",
      dataset: "dd",
      seed: 1,
      steps: [],
    },
  };
}

/** Eight questions with a right and a wrong draw each; of the last one a draw failed as well. */
const drawn = Array.from({ length: 8 }, (_, i): DrawnQuestion => {
  const candidates = [candidate(`q${i}/good-0`, "Oslo"), candidate(`q${i}/bad-0`, "Lima")];
  const more = i === 7 ? [candidate("q7/good-1", null, true)] : [];
  return { task: { ...task, id: `q${i}` }, candidates: [...candidates, ...more] };
});

function folderOf(questions: readonly DrawnQuestion[]): string {
  const path = mkdtempSync(join(folder, "run-"));
  const lines = questions.map((each) => `${JSON.stringify({ settings: "aa", ...each })}\n`);
  writeFileSync(join(path, DRAWS_FILE), lines.join(""));
  return path;
}

function select(path: string, synth: object, keepDropped = false): Promise<Selection> {
  const { protocol, toolSchemas: tools } = searchEnvironment();
  return selectSamples({
    folder: path,
    settings: synthSchema.parse(synth),
    seed: 3,
    keepDropped,
    resources: { protocol, tools, ...teacherSegments(null), seed: 3 },
    signal: new AbortController().signal,
  });
}

const rowsOf = (path: string, file: string): Sample[] =>
  readFileSync(join(path, file), "utf8")
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Sample]));

describe("a selection", () => {
  it("counts what each step let through, and why the rest did not pass", async () => {
    const path = folderOf(drawn);
    const synth = { draws: [{ name: "good" }, { name: "bad" }], steps: ["answered", "correct"] };
    const { draws, yields, failures, files, questions } = await select(path, synth);
    expect(questions).toBe(8);
    expect(failures).toEqual({ HTTP_TIMEOUT: 1 });
    expect(yields).toMatchObject([
      { name: "drawn", in: 17, out: 16, questions: 8, dropped: { "failed: HTTP_TIMEOUT": 1 } },
      { name: "answered", in: 16, out: 16, questions: 8, dropped: {} },
      { name: "correct", in: 16, out: 8, questions: 8, dropped: { "wrong answer": 8 } },
    ]);
    expect(draws).toMatchObject([
      { name: "good", rollouts: 9, failed: 1, toolRate: 0, answerRate: 1, reward: 1 },
      { name: "bad", rollouts: 8, failed: 0, toolRate: 0, answerRate: 1, reward: 0 },
    ]);
    expect(files["samples.jsonl"]?.rows).toBe(8);
    const [first] = rowsOf(path, "samples.jsonl");
    expect(first?.provenance.steps).toEqual([{ name: "answered" }, { name: "correct" }]);
    // Nothing that was put aside stays.
    expect(existsSync(join(path, "selecting.tmp"))).toBe(false);
  });

  it("writes samples in the order that a selector gave them", async () => {
    const path = folderOf(drawn);
    const { yields } = await select(path, { selection: ["shuffled"] });
    expect(yields.at(-1)).toMatchObject({ name: "shuffled", kind: "selection", in: 16, out: 16 });
    const ids = rowsOf(path, "samples.jsonl").map(({ id }) => id);
    const inOrder = drawn.flatMap(({ candidates }) => candidates.slice(0, 2).map(({ id }) => id));
    expect(ids).not.toEqual(inOrder);
    expect([...ids].sort()).toEqual([...inOrder].sort());
  });

  it("splits by question, pairs as well, and takes away what an earlier selection left", async () => {
    const path = folderOf(drawn);
    const synth = { steps: ["best-worst-pairs"], validation: 0.5 };
    const { files } = await select(path, synth, true);
    const sideOf = (file: string): Set<string> =>
      new Set(rowsOf(path, file).map(({ task: { id } }) => id));
    const validation = sideOf("validation.jsonl");
    expect(validation.size).toBeGreaterThan(0);
    expect(sideOf("pairs-validation.jsonl")).toEqual(validation);
    expect(sideOf("pairs.jsonl")).toEqual(sideOf("samples.jsonl"));
    expect(Object.keys(files)).toEqual([
      ...["samples.jsonl", "validation.jsonl", "pairs.jsonl", "pairs-validation.jsonl"],
      "dropped.jsonl",
    ]);
    const later = await select(path, {});
    expect(Object.keys(later.files)).toEqual(["samples.jsonl", "validation.jsonl", "pairs.jsonl"]);
    expect(existsSync(join(path, "pairs-validation.jsonl"))).toBe(false);
    expect(existsSync(join(path, "dropped.jsonl"))).toBe(false);
  });

  it("does not put a question on another side when there are more of them", async () => {
    const sides = async (questions: readonly DrawnQuestion[]): Promise<string[]> => {
      const path = folderOf(questions);
      await select(path, { validation: 0.5 });
      return rowsOf(path, "validation.jsonl").map(({ id }) => id);
    };
    const all = await sides(drawn);
    const ids = drawn.slice(2, 6).flatMap(({ candidates }) => candidates.map(({ id }) => id));
    expect(await sides(drawn.slice(2, 6))).toEqual(all.filter((id) => ids.includes(id)));
  });

  it("refuses a log that was interrupted, and lines that are no draws, by their place", async () => {
    const twice = folderOf([...drawn, ...drawn.slice(3, 4)]);
    await expect(select(twice, {})).rejects.toThrow(
      errorWith("DATA_ID_TWICE", /draws\.jsonl:9: .*question "q3".* twice/),
    );
    const path = folderOf(drawn.slice(0, 2));
    writeFileSync(join(path, DRAWS_FILE), '{"settings":"aa","candidates":[]}\n{}\n');
    await expect(select(path, {})).rejects.toThrow(
      errorWith("DATA_BAD_RECORD", /draws\.jsonl:1: is not a question's draws .*task is missing/),
    );
    expect(existsSync(join(path, "samples.jsonl"))).toBe(false);
    expect(existsSync(join(path, "selecting.tmp"))).toBe(false);
  });
});

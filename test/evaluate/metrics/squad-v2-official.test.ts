import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scoreSquadV2, squadV2Metrics } from "../../../src/evaluate/metrics/squad-v2-official.ts";
import { summarizeScores } from "../../../src/evaluate/score-answers.ts";
import { scoreLayouts } from "../../../src/evaluate/score-file.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();

async function json(name: string, value: unknown): Promise<string> {
  await writeFile(join(folder, name), JSON.stringify(value));
  return join(folder, name);
}

describe("SQuAD 2.0's evaluation, by hand", () => {
  it.each([
    { shows: "an unanswerable question, rightly left open", said: "", gold: [], em: 1, f1: 1 },
    { shows: "articles and punctuation are no answer", said: "the.", gold: [], em: 1, f1: 1 },
    { shows: "an unanswerable question, answered", said: "France", gold: [], em: 0, f1: 0 },
    { shows: "an answerable question, left open", said: "", gold: ["France"], em: 0, f1: 0 },
    { shows: "no prediction", said: null, gold: [], em: 0, f1: 0 },
    // "." normalises to nothing and is dropped; it must not make an empty prediction right.
    { shows: "a reference that is dropped", said: "", gold: [".", "France"], em: 0, f1: 0 },
    { shows: "only references that are dropped", said: "", gold: [".", "the"], em: 1, f1: 1 },
    // Shared: 10th, century; precision 2/2, recall 2/3: f1 = 4/5. The best reference counts for each metric.
    {
      shows: "the best reference",
      said: "10th century",
      gold: ["in the 10th century", "the 11th century"],
      em: 0,
      f1: 4 / 5,
    },
    // Unlike in HotpotQA's script, "no" is a word like any other: shared 1 of 1 and 2.
    { shows: "no as a word", said: "no", gold: ["no one"], em: 0, f1: 2 / 3 },
  ])("$shows", ({ said, gold, em, f1 }) => {
    const scores = scoreSquadV2(said, gold);
    expect(scores.em).toBe(em);
    expect(scores.f1).toBeCloseTo(f1, 12);
  });
});

it("scores the published kind of files, over all questions and over both subsets", async () => {
  const question = (id: string, ...texts: string[]) => ({
    id,
    question: "?",
    is_impossible: texts.length === 0,
    answers: texts.map((text) => ({ text, answer_start: 0 })),
  });
  const qas = [
    question("a", "Oslo", "the Oslo"),
    question("b"),
    question("c"),
    question("d", "x y"),
  ];
  const references = await json("dev.json", {
    version: "v2.0",
    data: [{ title: "T", paragraphs: [{ context: "…", qas }] }],
  });
  const predictions = await json("pred.json", { a: "Oslo", b: "", c: "guess", d: "x" });
  const layout = scoreLayouts.get("squad_v2", "test");
  const file = await layout.score({ predictions, references });
  const { metrics } = summarizeScores(
    file.rows.map(({ scores }) => scores),
    { shares: file.shares, seed: 0 },
  );
  // f1 of d: shared 1 of 1 and 2, so 2/3. All: (1 + 1 + 0 + 2/3) / 4.
  expect(Object.keys(metrics)).toEqual(squadV2Metrics.names);
  expect(metrics).toMatchObject({
    em: 0.5,
    has_answer_em: 0.5,
    no_answer_em: 0.5,
    no_answer_f1: 0.5,
  });
  expect(metrics["f1"]).toBeCloseTo(2 / 3, 12);
  expect(metrics["has_answer_f1"]).toBeCloseTo(5 / 6, 12);
  await expect(layout.score({ predictions, references, normalization: "words" })).rejects.toThrow(
    errorWith("USAGE", "--normalization"),
  );
});

it("the layout answers refuses questions without an answer, or says that it does not fit", async () => {
  const empty = await json("empty.json", [{ prediction: "", references: [] }]);
  const answers = scoreLayouts.get("answers", "test");
  await expect(answers.score({ predictions: empty })).rejects.toThrow(
    errorWith("PREDICTIONS_FIELD", "--layout squad_v2"),
  );
  const blank = await json("blank.json", [{ id: "q7", prediction: "", references: [""] }]);
  const { notes, rows } = await answers.score({ predictions: blank });
  expect(notes.join()).toContain("--layout squad_v2");
  expect(rows.map(({ id }) => id)).toEqual(["q7"]);
});

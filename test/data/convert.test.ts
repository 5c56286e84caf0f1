import { writeFile } from "node:fs/promises";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkFile } from "../../src/data/check-file.ts";
import { convertFile, writableLayouts } from "../../src/data/convert.ts";
import { readPassages } from "../../src/data/passages.ts";
import { loadTasks } from "../../src/data/tasks.ts";
import { tinyWorld } from "../../src/worlds/tiny/tiny-world.ts";
import { writeJsonl } from "../../src/data/write-jsonl.ts";
import { collect } from "../helpers/collect.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const world = tinyWorld({ seed: 1, split: "dev", people: 200 });
const tasks = [...world.questions(30, { distractors: 5 })];
const at = (name: string): string => join(folder, name);

describe("convertFile", () => {
  it("knows the layouts that can be written", () => {
    expect(writableLayouts()).toEqual([
      ...["trl", "verl", "agentrl", "flashrag", "musique", "2wikimultihopqa", "beir", "hotpotqa"],
      "plain",
    ]);
  });

  it("loses nothing from our layout to HotpotQA's and back", async () => {
    await writeJsonl(at("a.jsonl"), tasks);
    expect(await convertFile(at("a.jsonl"), at("b.jsonl"), "hotpotqa")).toMatchObject({
      kind: "questions",
      records: 30,
    });
    expect(await loadTasks(at("b.jsonl"))).toEqual(tasks);
    await convertFile(at("b.jsonl"), at("c.jsonl"), "agentrl");
    expect(await loadTasks(at("c.jsonl"))).toEqual(tasks);
  });

  it("keeps question, answers, facts and context in FlashRAG's layout", async () => {
    await writeJsonl(at("d.jsonl"), tasks);
    await convertFile(at("d.jsonl"), at("e.jsonl"), "flashrag");
    const [first] = await loadTasks(at("e.jsonl"));
    expect(first).toMatchObject({
      id: tasks[0]?.id,
      references: tasks[0]?.references,
      annotations: { supportingFacts: tasks[0]?.annotations.supportingFacts },
    });
    expect(first?.annotations.context?.map(({ text }) => text)).toEqual(
      tasks[0]?.annotations.context?.map(({ text }) => text),
    );
  });

  it("rewrites corpora", async () => {
    const passages = [{ id: "1", title: "A B", text: "x y." }];
    await writeJsonl(at("f.jsonl"), passages);
    expect(await convertFile(at("f.jsonl"), at("g.jsonl"), "flashrag")).toMatchObject({
      kind: "corpus",
      records: 1,
    });
    expect(readFileSync(at("g.jsonl"), "utf8")).toBe('{"id":"1","contents":"\\"A B\\"\\nx y."}\n');
    expect(await collect(readPassages(at("g.jsonl")))).toEqual(passages);
    await expect(convertFile(at("f.jsonl"), at("h.jsonl"), "hotpotqa")).rejects.toThrow(
      /f\.jsonl is a corpus, .* Known: agentrl, flashrag\.$/,
    );
  });

  it("writes no file of nothing", async () => {
    await writeFile(at("nothing.jsonl"), "\n");
    await expect(convertFile(at("nothing.jsonl"), at("none.jsonl"), "trl")).rejects.toThrow(
      errorWith("DATA_EMPTY", "nothing.jsonl"),
    );
    expect(existsSync(at("none.jsonl"))).toBe(false);
  });

  it("packs a file that is named so, as readers take it", async () => {
    const many = [...world.questions(200, { distractors: 5 })];
    await writeJsonl(at("many.jsonl"), many);
    const { bytes } = await convertFile(at("many.jsonl"), at("many.jsonl.gz"), "agentrl");
    expect(statSync(at("many.jsonl.gz")).size).toBe(bytes);
    expect(bytes).toBeLessThan(statSync(at("many.jsonl")).size / 2);
    expect(await loadTasks(at("many.jsonl.gz"))).toEqual(many);
  });

  it("leaves no file when a line is bad, and what was there before stays", async () => {
    await writeFile(at("i.jsonl"), '{"question":"?","answer":"x"}\n{"question":"?"}\n');
    await expect(convertFile(at("i.jsonl"), at("j.jsonl"), "agentrl")).rejects.toThrow(
      errorWith("DATA_BAD_RECORD", "i.jsonl:2"),
    );
    expect(existsSync(at("j.jsonl"))).toBe(false);
    await writeFile(at("j.jsonl"), "before");
    await expect(convertFile(at("i.jsonl"), at("j.jsonl"), "agentrl")).rejects.toThrow(
      errorWith("DATA_BAD_RECORD", "i.jsonl:2"),
    );
    expect(readFileSync(at("j.jsonl"), "utf8")).toBe("before");
  });

  it("stops when asked to and leaves no file", async () => {
    await writeJsonl(at("k.jsonl"), tasks);
    const stop = AbortSignal.abort(new Error("stopped"));
    await expect(
      convertFile(at("k.jsonl"), at("l.jsonl"), "agentrl", { signal: stop }),
    ).rejects.toThrow("stopped");
    expect(existsSync(at("l.jsonl"))).toBe(false);
  });
});

it("writes Parquet under that name, which reads back with every annotation", async () => {
  const steps = [{ question: "What is it?", answer: "The Tin Sea", passage: null }];
  const [first, ...others] = tasks;
  const all = first && [
    { ...first, annotations: { ...first.annotations, decomposition: steps } },
    ...others,
  ];
  await writeJsonl(at("p.jsonl"), all ?? []);
  await convertFile(at("p.jsonl"), at("p.parquet"), "agentrl");
  expect(readFileSync(at("p.parquet")).subarray(0, 4).toString()).toBe("PAR1");
  expect(await loadTasks(at("p.parquet"))).toEqual(all);
  await expect(convertFile(at("p.jsonl"), at("p.csv"), "agentrl")).rejects.toThrow(
    errorWith("USAGE", ".csv"),
  );
});

describe("checkFile", () => {
  it("finds nothing in a good file", async () => {
    await writeJsonl(at("m.jsonl"), tasks);
    expect(await checkFile(at("m.jsonl"))).toMatchObject({
      kind: "questions",
      layout: "agentrl",
      records: 30,
      problems: [],
    });
  });

  it("lists every bad line instead of stopping at the first", async () => {
    const content = ['{"id":1,"text":"x"}', "{", "[]", '{"id":2}', '{"id":1,"text":"y"}', "{}"];
    await writeFile(at("n.jsonl"), content.join("\n"));
    const report = await checkFile(at("n.jsonl"));
    expect(report).toMatchObject({ kind: "corpus", layout: "agentrl", records: 4 });
    expect(report.problems.map((line) => line.replace(folder, "").slice(0, 45))).toEqual([
      expect.stringContaining("/n.jsonl:2: is not JSON"),
      "/n.jsonl:3: is []; expected a JSON object.",
      '/n.jsonl:4: "text" is missing: expected text.',
      expect.stringContaining('/n.jsonl:5: the id "1" '),
      '/n.jsonl:6: "text" is missing: expected text.',
    ]);
  });

  it("says when a file is empty or of no known layout", async () => {
    await writeFile(at("o.jsonl"), "");
    expect((await checkFile(at("o.jsonl"))).problems).toHaveLength(1);
    await writeFile(at("p.jsonl"), '{"a":1}\n{"a":2}\n');
    expect(await checkFile(at("p.jsonl"))).toMatchObject({
      kind: "unknown",
      layout: null,
      records: 2,
    });
  });
});

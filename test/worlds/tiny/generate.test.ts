import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sha256 } from "../../../src/base/files.ts";
import { readPassages } from "../../../src/data/passages.ts";
import { loadTasks } from "../../../src/data/tasks.ts";
import type { WorldFolder } from "../../../src/env/world-folder.ts";
import { tiny } from "../../../src/worlds/tiny/index.ts";
import { tinyWorld } from "../../../src/worlds/tiny/tiny-world.ts";
import { collect } from "../../helpers/collect.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const written = tiny.folder as WorldFolder;
const SMALL = { people: 100, seed: 7, questions: 40 };

describe("a tiny world's folder", () => {
  it("writes corpus, question files and manifest, the same bytes each time", async () => {
    const [a, b] = [join(folder, "a"), join(folder, "b")];
    const manifest = await written.generate(a, SMALL);
    await written.generate(b, SMALL);
    const files = readdirSync(a).sort();
    expect(files).toEqual([
      "corpus.jsonl",
      "dev.jsonl",
      "manifest.json",
      "test.jsonl",
      "train.jsonl",
    ]);
    for (const file of files) {
      expect(readFileSync(join(a, file)).equals(readFileSync(join(b, file)))).toBe(true);
    }
    expect(manifest.files["corpus.jsonl"]).toEqual({
      records: 510,
      bytes: readFileSync(join(a, "corpus.jsonl")).length,
      sha256: sha256(readFileSync(join(a, "corpus.jsonl"))),
    });
    expect(JSON.parse(readFileSync(join(a, "manifest.json"), "utf8"))).toEqual(manifest);
  });

  it("writes what the world says, readable by the common readers", async () => {
    const out = join(folder, "c");
    await written.generate(out, { ...SMALL, splits: ["test"], distractors: 10 });
    const world = tinyWorld({ seed: 7, split: "test", people: 100 });
    expect(await loadTasks(join(out, "test.jsonl"))).toEqual([
      ...world.questions(40, { distractors: 10 }),
    ]);
    const passages = await collect(readPassages(join(out, "corpus.jsonl")));
    expect(passages).toEqual(
      [...world.passages()].map(({ id, title, text }) => ({ id, title, text })),
    );
  });

  it("passes its own checker, which sees a file that was changed", async () => {
    const out = join(folder, "d");
    await written.generate(out, SMALL);
    expect(await written.check(out)).toEqual({
      counts: { passages: 510, questions: 120 },
      problems: [],
      changedFiles: [],
    });
    const corpus = join(out, "corpus.jsonl");
    writeFileSync(corpus, readFileSync(corpus, "utf8").replaceAll("works for", "has a job at"));
    expect(await written.check(out)).toMatchObject({
      problems: [],
      changedFiles: ["corpus.jsonl"],
    });
    writeFileSync(corpus, readFileSync(corpus, "utf8").replace(/born in \d{4}/, "born on Mars"));
    expect((await written.check(out)).problems[0]?.code).toBe("passage-unreadable");
  });

  it("leaves no manifest when it is stopped", async () => {
    const out = join(folder, "e");
    const signal = AbortSignal.abort(new Error("stopped"));
    await expect(written.generate(out, SMALL, { signal })).rejects.toThrow("stopped");
    expect(readdirSync(out)).toEqual([]);
  });

  it("refuses unknown splits and settings", async () => {
    const bad = (settings: object): Promise<unknown> => written.generate(folder, settings);
    await expect(bad({ splits: ["validation"] })).rejects.toThrow(
      'tinyworld.splits.0 is "validation": allowed: "train", "dev", "test", "base".',
    );
    await expect(bad({ poeple: 3 })).rejects.toThrow('Did you mean "people"?');
  });

  it("refuses a folder that it did not write", async () => {
    await expect(written.check(join(folder, "none"))).rejects.toThrow(
      errorWith("FILE_MISSING", "cannot be read"),
    );
    writeFileSync(join(folder, "manifest.json"), '{"format":"other"}');
    await expect(written.check(folder)).rejects.toThrow(
      errorWith("DATA_BAD_RECORD", 'manifest.json: "format" is "other"'),
    );
  });
});

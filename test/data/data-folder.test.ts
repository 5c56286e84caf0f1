import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { dataSource } from "../../src/data/data-folder.ts";
import { readPassages } from "../../src/data/passages.ts";
import { loadTasks } from "../../src/data/tasks.ts";
import { openDataset } from "../../src/worlds/open-dataset.ts";
import { collect } from "../helpers/collect.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

async function made(name: string, files: Record<string, string>): Promise<string> {
  const place = join(folder, name);
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(place, path, ".."), { recursive: true });
    await writeFile(join(place, path), content);
  }
  return place;
}

describe("a dataset folder as on the hub", () => {
  const row = (question: string): string => `${JSON.stringify({ question, answer: "x" })}\n`;

  it("reads the shards of a split in order, with one id each", async () => {
    const place = await made("hub", {
      "README.md": "# Card",
      "dataset_infos.json": "{}",
      "data/train-00000-of-00002.jsonl": row("a?"),
      "data/train-00001-of-00002.jsonl": row("b?"),
      "data/test.jsonl": row("c?"),
    });
    const tasks = await loadTasks(`${place}:train`);
    expect(tasks.map(({ id, question }) => [id, question])).toEqual([
      ["hub:train-1", "a?"],
      ["hub:train-2", "b?"],
    ]);
    const test = await openDataset(`${place}:test`, "--dataset");
    expect((await test.tasks()).map(({ question }) => question)).toEqual(["c?"]);
    await expect(loadTasks(place)).rejects.toThrow(
      errorWith("DATA_FOLDER_UNCLEAR", /hub:test, .*hub:train/),
    );
    await expect(loadTasks(`${place}:dev`)).rejects.toThrow(
      errorWith("DATA_FOLDER_UNCLEAR", '"dev"'),
    );
  });

  it("needs no split where there is one, and says how to convert Arrow files", async () => {
    const one = await made("one", { "qa.csv": "question,answer\na?,x\n" });
    expect(await loadTasks(one)).toHaveLength(1);
    const arrow = await made("saved", { "state.json": "{}", "data-00000-of-00001.arrow": "" });
    await expect(loadTasks(arrow)).rejects.toThrow(
      errorWith("DATA_FOLDER_UNCLEAR", "load_from_disk"),
    );
    await expect(loadTasks(await made("empty", { "a.bin": "" }))).rejects.toThrow(
      errorWith("DATA_FOLDER_UNCLEAR", ".md"),
    );
  });
});

describe("a folder of texts", () => {
  const words = (count: number, word: string): string => Array(count).fill(word).join(" ");

  it("makes passages of some hundred words at borders of paragraphs", async () => {
    const place = await made("notes", {
      "cities/oslo.md": `# Oslo\n\n${words(60, "a")}\n\n${words(40, "b")}\n\n${words(30, "c")}\n`,
      "tin_sea.txt": "The Tin Sea.\r\n\r\nIt is long.",
      ".hidden.txt": "no",
      "blank.md": "\n",
    });
    expect(await collect(readPassages(place))).toEqual([
      { id: "cities/oslo.md#1", title: "Oslo", text: `${words(60, "a")}\n${words(40, "b")}` },
      { id: "cities/oslo.md#2", title: "Oslo", text: words(30, "c") },
      { id: "tin_sea.txt#1", title: "tin sea", text: "The Tin Sea.\nIt is long." },
    ]);
  });

  it("cuts a long paragraph at ends of sentences", async () => {
    const sentence = `${words(39, "a")} z.`;
    const place = await made("long", { "a.txt": `${sentence} ${sentence} ${sentence}` });
    expect((await collect(readPassages(place))).map(({ text }) => text)).toEqual([
      `${sentence} ${sentence}`,
      sentence,
    ]);
  });
});

describe("links in a folder of texts", () => {
  it("are read as what they lead to, also folders, without going in circles", async () => {
    const other = await made("elsewhere", { "a.txt": "Text of a.", "sub/b.txt": "Text of b." });
    const place = await made("linked", { "own.txt": "Own text." });
    await symlink(join(other, "a.txt"), join(place, "link.txt"));
    await symlink(join(other, "sub"), join(place, "folder"));
    await symlink(place, join(place, "itself"));
    await symlink(join(other, "none"), join(place, "no-text"));
    const passages = await collect(readPassages(place));
    expect(passages.map(({ id }) => id)).toEqual(["folder/b.txt#1", "link.txt#1", "own.txt#1"]);
  });

  it("that lead nowhere are skipped by name", async () => {
    const place = await made("broken", { "own.txt": "Own text." });
    await symlink(join(folder, "nowhere.txt"), join(place, "gone.txt"));
    const { skipped } = await dataSource(place);
    expect(skipped).toEqual([{ path: "gone.txt", why: "a link to nothing" }]);
  });
});

it("a text file in another encoding is refused, not read with replaced letters", async () => {
  const place = await made("latin", { "own.txt": "Own text." });
  await writeFile(join(place, "m.txt"), Buffer.from("Müller", "latin1"));
  await expect(collect(readPassages(place))).rejects.toThrow(errorWith("FILE_FORMAT", "m.txt"));
});

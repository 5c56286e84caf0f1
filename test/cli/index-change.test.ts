import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { writeManifest } from "../../src/retrieval/store/index-folder.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const indexCommand = commandNamed("index");

const cwd = temporaryFolder();
const index = (...args: string[]) =>
  runCommand(
    indexCommand,
    ["index", ...args.map((arg) => (arg.startsWith("./") ? join(cwd, arg) : arg))],
    `${cwd}/`,
  );
const json = async (...args: string[]) =>
  JSON.parse((await index(...args, "--json")).stdout) as Record<string, unknown>;

const lines = (...ids: string[]) =>
  ids.map((id) => `${JSON.stringify({ id, title: id, text: `text of ${id}` })}\n`).join("");
writeFileSync(join(cwd, "first.jsonl"), lines("oslo", "bergen", "lima"));
writeFileSync(join(cwd, "more.jsonl"), lines("turin", "quito"));
writeFileSync(join(cwd, "ids.txt"), "oslo\r\n\n lima \nnowhere\n");

beforeEach(async () => {
  await index("build", "./first.jsonl", "--out", "./idx", "--overwrite", "--threads", "0");
});

/** Sizes are those of files: what they are is for other tests. */
const withoutSizes = (text: string) => text.replaceAll(/\d+(\.\d)? k?B/g, "SIZE");

describe("agentrl index add", () => {
  it("adds passages, which are found, and says what the index then holds", async () => {
    const { stdout, stderr, status } = await index(
      "add",
      "./idx",
      "./more.jsonl",
      "--threads",
      "0",
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(withoutSizes(stdout)).toBe("idx: 2 passages added; 5 passages in 2 segments, SIZE\n");
    expect((await index("search", "./idx", "turin")).stdout).toContain("  turin  ");
  });

  it("reports in JSON", async () => {
    expect(await json("add", "./idx", "./more.jsonl", "--threads", "0")).toMatchObject({
      index: `${cwd}/idx`.slice(cwd.length + 1),
      added: 2,
      passages: 5,
      deleted: 0,
      segments: 2,
    });
  });

  it("ends with 3 for ids that the index has, and leaves it as it was", async () => {
    expect(await index("add", "./idx", "./first.jsonl")).toMatchInlineSnapshot(`
      {
        "status": 3,
        "stderr": "error: first.jsonl: passage 1 has the id "oslo", which already exists in idx; ids must be unique. Remove it, or delete the old one first. [CORPUS_DUPLICATE_ID]
      ",
        "stdout": "",
      }
    `);
    expect((await json("check", "./idx"))["ok"]).toBe(true);
  });
});

describe("agentrl index delete", () => {
  it("deletes passages by id and says which it did not know", async () => {
    const { stdout, stderr, status } = await index("delete", "./idx", "--ids", "oslo, rome");
    expect(status).toBe(0);
    expect(withoutSizes(stdout)).toBe(
      "idx: 1 passages deleted; 2 passages and 1 deleted in 1 segment, SIZE\n",
    );
    expect(stderr).toBe('Not in the index: 1 of the ids ("rome").\n');
    expect((await index("search", "./idx", "oslo")).stderr).toBe("No passage was found.\n");
  });

  it("reads ids from a file, one a line", async () => {
    expect(await json("delete", "./idx", "--ids-file", "./ids.txt")).toMatchObject({
      deleted: 2,
      unknown: ["nowhere"],
      passages: 1,
      stillOnDisk: 2,
    });
  });

  it("ends with 2 without ids, and when nothing would be left", async () => {
    const nothing = await index("delete", "./idx");
    expect(nothing.status).toBe(2);
    expect(nothing.stderr).toContain("--ids a,b or --ids-file FILE. [USAGE]");
    const all = await index("delete", "./idx", "--ids", "oslo,bergen,lima");
    expect(all.status).toBe(2);
    expect(all.stderr).toContain("[INDEX_WOULD_BE_EMPTY]");
  });
});

describe("agentrl index compact", () => {
  it("makes one segment of what lives", async () => {
    await index("add", "./idx", "./more.jsonl", "--threads", "0");
    await index("delete", "./idx", "--ids", "oslo,quito");
    const before = (await index("search", "./idx", "text turin")).stdout;
    expect(withoutSizes((await index("compact", "./idx")).stdout)).toBe(
      "idx: 3 passages in 1 segment, SIZE; before, 2 segments, SIZE\n",
    );
    expect((await index("search", "./idx", "text turin")).stdout).toBe(before);
    expect(await json("compact", "./idx")).toMatchObject({ segments: 1, before: { segments: 1 } });
  });
});

describe("agentrl index add, delete and compact", () => {
  it("end with 3 where there is no index, and with 2 at one of another kind", async () => {
    const other = join(cwd, "other");
    await index("build", "./first.jsonl", "--out", "./other", "--overwrite", "--threads", "0");
    await writeManifest(other, { format: "agentrl-index", version: 2, kind: "dense" });
    for (const args of [
      ["add", "./IDX", "./more.jsonl"],
      ["delete", "./IDX", "--ids", "oslo"],
      ["compact", "./IDX"],
    ]) {
      const on = (name: string) => index(...args.map((arg) => (arg === "./IDX" ? name : arg)));
      const absent = await on("./absent");
      expect(absent.status).toBe(3);
      expect(absent.stderr).toContain("[INDEX_MISSING]");
      const dense = await on("./other");
      expect(dense.status).toBe(2);
      expect(dense.stderr).toContain("other: is a dense index; only BM25 indexes can be changed.");
    }
  });
});

import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { naming } from "../helpers/naming.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const indexCommand = commandNamed("index");

const cwd = temporaryFolder();
/** Arguments that name a file or folder of the test are written ./so. */
const index = (...args: string[]) =>
  runCommand(
    indexCommand,
    ["index", ...args.map((arg) => (arg.startsWith("./") ? join(cwd, arg) : arg))],
    `${cwd}/`,
  );

const passages = [
  { id: "a", title: "Oslo", text: "Oslo is the capital of Norway." },
  { id: "b", title: "Bergen", text: "A city in Norway with much rain." },
  { id: "c", title: "Lima", text: "The capital of Peru." },
];

beforeAll(async () => {
  const lines = passages.map((passage) => `${JSON.stringify(passage)}\n`).join("");
  writeFileSync(join(cwd, "corpus.jsonl"), lines);
  writeFileSync(join(cwd, "broken.jsonl"), `${lines}{"id": "d", "ti\n`);
  writeFileSync(join(cwd, "empty.jsonl"), "");
  await index("build", "./corpus.jsonl", "--out", "./idx");
});

describe("agentrl index", () => {
  it("builds an index and says what it holds", async () => {
    const { stdout, stderr, status } = await index("build", "./corpus.jsonl", "--out", "./human");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^human: 3 passages, 9 terms, \d+ B, built in \d\.\d s\n$/);
    const options = ["--k1", "1.2", "--b", "0.75", "--analyzer", "plain", "--json"];
    const json = JSON.parse(
      (await index("build", "./corpus.jsonl", "--out", "./j", ...options)).stdout,
    ) as object;
    expect(json).toMatchObject({ out: "j", passages: 3, k1: 1.2, b: 0.75, analyzer: "plain" });
  });

  it("searches it", async () => {
    expect(await index("search", "./idx", "capital of Norway", "-k", "2")).toMatchInlineSnapshot(`
      {
        "status": 0,
        "stderr": "",
        "stdout": "1  0.495  a  Oslo  Oslo is the capital of Norway.
      2  0.260  c  Lima  The capital of Peru.
      ",
      }
    `);
    const { stdout } = await index("search", "./idx", "rain", "-k", "5", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      query: "rain",
      hits: [{ id: "b", title: "Bergen", text: "A city in Norway with much rain." }],
    });
    expect(await index("search", "./idx", "the")).toEqual({
      status: 0,
      stdout: "",
      stderr: "No passage was found.\n",
    });
  });

  it("searches any retriever instead", async () => {
    const bm25 = ["--retriever", "{ name: bm25, k1: 1.2 }", "--corpus", "./corpus.jsonl"];
    const { stdout } = await index("search", "rain", ...bm25);
    expect(stdout).toContain("  b  Bergen  ");
    const nothing = await index("search", "./idx");
    expect(nothing.status).toBe(2);
    expect(nothing.stderr).toContain("needs an index and a query");
    const both = await index("search", "./idx", "rain", "--retriever", "none");
    expect(both.status).toBe(2);
    expect(both.stderr).toContain("and --retriever are both given");
  });

  it("checks it", async () => {
    const { stdout, stderr, status } = await index("check", "./idx");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout.replace(/\d+ bytes/, "N bytes")).toBe(
      [
        "ok  checksums       7 files, N bytes, all intact",
        "ok  self-retrieval  3 of 3 titles find their passage among 10 hits",
        "ok  exact-scores    3 queries: the first 10 scores are the formula's",
        "",
      ].join("\n"),
    );
  });

  it("ends with 3 and names the file when one is damaged", async () => {
    await index("build", "./corpus.jsonl", "--out", "./damaged");
    const file = join(cwd, "damaged/segments/000001/lengths.u32");
    writeFileSync(file, Buffer.alloc(12));
    const { status, stdout, stderr } = await index("check", "./damaged");
    expect(status).toBe(3);
    expect(stdout).toContain("lengths.u32");
    expect(stderr).toContain("[INDEX_CHECK_FAILED]");
    rmSync(file);
    const search = await index("search", "./damaged", "rain");
    expect(search.status).toBe(3);
    expect(search.stderr).toMatch(/lengths\.u32: cannot be read .* \[INDEX_CORRUPT\]/);
  });

  it("foretells what an index costs", async () => {
    const plan = JSON.parse((await index("plan", "./corpus.jsonl", "--json")).stdout) as Record<
      string,
      number
    >;
    const built = JSON.parse(
      (await index("build", "./corpus.jsonl", "--out", "./planned", "--json")).stdout,
    ) as Record<string, number>;
    expect(plan).toMatchObject({ passages: 3, sampled: 3 });
    expect(Math.abs(plan["bytesOnDisk"]! - built["bytesOnDisk"]!)).toBeLessThan(2500);
    expect(plan["residentBytes"]).toBeGreaterThan(0);
    expect(plan["seconds"]).toBeGreaterThan(0);
    expect((await index("plan", "./corpus.jsonl")).stdout).toMatch(
      /^3 passages\non disk +2\.\d kB {2}of it text 192 B\nwhile building +\d+ B {2}.*\nin memory +\d+ B {2}.*\nto build +\d\.\d s {2}.*\n$/,
    );
  });

  it("ends with 2 when an index would not fit, and says how much of it would", async () => {
    const disk = await index("plan", "./corpus.jsonl", "--max-disk", "0.000001");
    expect(disk.status).toBe(2);
    expect(disk.stderr).toMatch(/needs 2\.\d kB of disk during the build; .* \[INDEX_TOO_LARGE\]/);
    const memory = await index("plan", "./corpus.jsonl", "--max-memory", "0", "--json");
    expect(JSON.parse(memory.stdout)).toMatchObject({ error: { code: "INDEX_TOO_LARGE" } });
    expect(memory.stderr).toContain(
      "of memory once opened, but only 0 B are available. About 0 of its",
    );
    const build = await index("build", "./corpus.jsonl", "--out", "./x", "--max-memory", "0");
    expect(build.stderr).toContain("[INDEX_TOO_LARGE]");
    expect(existsSync(join(cwd, "x"))).toBe(false);
    const small = await index("build", "./corpus.jsonl", "--out", "./small", "--max-memory", "1");
    expect(small.status).toBe(0);
    const fits = await index("plan", "./corpus.jsonl", "--out", "./idx", "--json");
    expect(fits.status).toBe(0);
  });

  it("builds the variant that is asked for", async () => {
    const options = ["--variant", "bm25+", "--delta", "1", "--threads", "1", "--json"];
    const built = await index("build", "./corpus.jsonl", "--out", "./plus", ...options);
    expect(JSON.parse(built.stdout)).toMatchObject({ variant: "bm25+", delta: 1, segments: 1 });
    expect((await index("check", "./plus")).status).toBe(0);
  });

  it("refuses options of the other kind of index", async () => {
    const dense = await index("build", "./corpus.jsonl", "--out", "./x", "--ef-search", "10");
    expect(dense.status).toBe(2);
    expect(dense.stderr).toContain("--ef-search belongs to a dense index: name its model with");
    const words = await index("plan", "./corpus.jsonl", "--encoder", "./model", "--k1", "1");
    expect(words.status).toBe(2);
    expect(words.stderr).toContain("--k1 belongs to BM25 and --encoder makes a dense index");
  });

  it("leaves nothing behind when the corpus is bad, and ends with 3", async () => {
    const broken = await index("build", "./broken.jsonl", "--out", "./none");
    expect(broken.status).toBe(3);
    expect(broken.stderr).toContain("broken.jsonl:4: is not JSON");
    const empty = await index("build", "./empty.jsonl", "--out", "./none");
    expect([empty.stdout, empty.status]).toEqual(["", 3]);
    expect(empty.stderr).toMatch(naming("error: empty.jsonl:", "[CORPUS_EMPTY]"));
    expect((await index("build", "./absent.jsonl", "--out", "./none")).status).toBe(3);
    expect(existsSync(join(cwd, "none"))).toBe(false);
  });

  it("ends with 2 for wrong flags and for a folder that is there", async () => {
    const again = await index("build", "./corpus.jsonl", "--out", "./idx");
    expect([again.stdout, again.status]).toEqual(["", 2]);
    expect(again.stderr).toMatch(naming("error: idx:", "--out", "--overwrite", "[INDEX_EXISTS]"));
    const analyzer = await index(
      "build",
      "./corpus.jsonl",
      "--out",
      "./x",
      "--analyzer",
      "englich",
    );
    expect(analyzer.status).toBe(2);
    expect(analyzer.stderr).toContain('Did you mean "english"?');
    expect((await index("build", "./corpus.jsonl", "--out", "./x", "--b", "2")).status).toBe(2);
    expect((await index("build", "./corpus.jsonl", "--out", "./idx", "--overwrite")).status).toBe(
      0,
    );
  });

  it("ends with 4 when the disk does not take it", async () => {
    const { status, stderr } = await index(
      "build",
      "./corpus.jsonl",
      "--out",
      "./corpus.jsonl/idx",
    );
    expect(status).toBe(4);
    expect(stderr).toContain("[FILE_WRITE_FAILED]");
  });
});

import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { retrievers } from "../../../src/retrieval/index.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { contextOf, listed, shown } from "../../helpers/listed-retriever.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import "../../helpers/all-parts.ts";

const part = retrievers.get("recorded", "test");
const folder = temporaryFolder();
let files = 0;
const newFile = (): string => join(folder, `new/${(files += 1)}.jsonl`);
const recording = (file: string, inner = listed("abc".split("")), mode = "record-missing") =>
  part.open({ file, mode, of: "none" }, contextOf([inner]));
const replaying = (file: string, fingerprint?: string) =>
  part.open({ file, mode: "replay", ...(fingerprint && { fingerprint }) }, contextOf([]));
const linesOf = (file: string): string[] => readFileSync(file, "utf8").split("\n").slice(0, -1);

/** A file with a recording of one search by each retriever. */
async function recordedFile(...inner: ReturnType<typeof listed>[]): Promise<string> {
  const file = newFile();
  for (const each of inner) {
    const retriever = await recording(file, each);
    await retriever.search(["rain"], 2);
    await retriever.close();
  }
  return file;
}

describe("recorded", () => {
  it("asks once for a query and k, and replays the same without the retriever", async () => {
    const file = newFile();
    const inner = listed("abc".split(""));
    const first = await recording(file, inner);
    const found = await first.search(["rain", "snow", "rain"], 2);
    expect(await first.search(["snow"], 2)).toEqual([found[1]]);
    await first.search(["snow"], 1);
    await first.close();
    expect(inner.asked.map(({ queries, k }) => [...queries, k])).toEqual([
      ["rain", "snow", 2],
      [2],
      ["snow", 1],
    ]);
    expect(linesOf(file)[0]).toBe(
      `{"fingerprint":"listed-abc","query":"rain","k":2,"hits":[{"id":"a","title":"title a","text":"text a","score":3},{"id":"b","title":"title b","text":"text b","score":2}]}`,
    );
    const again = await replaying(file);
    expect(again.fingerprint).toBe(inner.fingerprint);
    expect(await again.search(["rain", "snow", "rain"], 2)).toEqual(found);
    expect(shown((await again.search(["snow"], 1))[0])).toEqual(["a 3"]);
  });

  it("names a search that a replayed file lacks", async () => {
    const replay = await replaying(await recordedFile(listed(["a"])));
    for (const [query, k] of [
      ["snow", 2],
      ["rain", 3],
    ] as const) {
      await expect(replay.search(["rain", query], k)).rejects.toThrow(
        errorWith("SEARCH_NOT_RECORDED", "record-missing"),
      );
    }
  });

  it("asks again in record mode, and the later answer counts", async () => {
    const file = newFile();
    const changing = { ids: ["a"] };
    const inner = listed([], {
      search: (queries) =>
        Promise.resolve(
          queries.map(() => changing.ids.map((id) => ({ id, title: "", text: "", score: 1 }))),
        ),
    });
    const retriever = await recording(file, inner, "record");
    await retriever.search(["rain"], 1);
    await retriever.search(["rain"], 1);
    changing.ids = ["b"];
    await retriever.search(["rain"], 1);
    await retriever.close();
    expect(linesOf(file)).toHaveLength(2);
    expect((await (await replaying(file)).search(["rain"], 1))[0]![0]!.id).toBe("b");
  });

  it("keeps several retrievers in one file and wants one of them named for replay", async () => {
    const file = await recordedFile(listed(["a", "b"]), listed(["c", "d"]));
    await expect(replaying(file)).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", "listed-ab, listed-cd"),
    );
    await expect(replaying(file, "listed-x")).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", 'recorded.fingerprint is "listed-x"'),
    );
    const second = await replaying(file, "listed-cd");
    expect(shown((await second.search(["rain"], 2))[0])).toEqual(["c 2", "d 1"]);
  });

  it("reads past a cut last line and does not append to it", async () => {
    const file = await recordedFile(listed(["a"]));
    appendFileSync(file, '{"fingerprint":"listed-a","query":"sn');
    expect((await replaying(file)).fingerprint).toBe("listed-a");
    const retriever = await recording(file, listed(["a"]));
    await retriever.search(["snow"], 2);
    await retriever.close();
    expect(linesOf(file).map((line) => (JSON.parse(line) as { query: string }).query)).toEqual([
      "rain",
      "snow",
    ]);
  });

  it("drops a cut line that is the whole file, however long", async () => {
    const file = await recordedFile(listed(["a"]));
    writeFileSync(file, `{"fingerprint":"${"x".repeat(200_000)}`);
    const retriever = await recording(file, listed(["a"]));
    await retriever.search(["rain"], 1);
    await retriever.close();
    expect(linesOf(file)).toHaveLength(1);
  });

  it("writes whole lines when many searches run at once", async () => {
    const file = newFile();
    const retriever = await recording(file);
    const queries = Array.from({ length: 300 }, (_, i) => `query ${i} ${"long ".repeat(2000)}`);
    await Promise.all(queries.map((query) => retriever.search([query], 3)));
    await retriever.close();
    expect(linesOf(file)).toHaveLength(300);
    expect(await (await replaying(file)).search(queries, 3)).toHaveLength(300);
  });

  it("keeps its hits apart from what a caller does to them", async () => {
    const file = newFile();
    const retriever = await recording(file);
    const [hits] = await retriever.search(["rain"], 1);
    hits![0]!.title = "changed";
    expect((await retriever.search(["rain"], 1))[0]![0]!.title).toBe("title a");
    await retriever.close();
  });

  it("refuses a retriever that looks at more than the query, and closes it", async () => {
    const inner = listed(["a"], { reads: ["progress"] });
    await expect(recording(newFile(), inner)).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", /recorded\.of is "listed".*progress/),
    );
    expect(inner.closed).toBe(true);
  });

  it("wants a retriever to record, and none to replay", async () => {
    for (const options of [{ mode: "record" }, { mode: "replay", of: "none" }]) {
      await expect(part.open({ file: newFile(), ...options }, contextOf([]))).rejects.toThrow(
        errorWith("RECIPE_BAD_VALUE", "recorded.of"),
      );
    }
    await expect(
      part.open({ file: newFile(), of: "none", fingerprint: "x" }, contextOf([])),
    ).rejects.toThrow(errorWith("RECIPE_BAD_VALUE", "recorded.fingerprint"));
  });

  it("names files that are missing, empty or hold something else", async () => {
    await expect(replaying(join(folder, "none.jsonl"))).rejects.toThrow(errorWith("FILE_MISSING"));
    const file = join(folder, "other.jsonl");
    writeFileSync(file, "");
    await expect(replaying(file)).rejects.toThrow(errorWith("DATA_EMPTY", "other.jsonl"));
    writeFileSync(file, '{"fingerprint":"a","query":"q","k":2,"hits":[{"id":1}]}\n');
    await expect(replaying(file)).rejects.toThrow(
      errorWith("DATA_BAD_RECORD", /other\.jsonl:1: hits\.0\.id is 1: expected text/),
    );
    await expect(recording(join(file, "below.jsonl"))).rejects.toThrow(
      errorWith("FILE_WRITE_FAILED", "below.jsonl"),
    );
  });
});

import { describe, expect, it } from "vitest";
import {
  columnOf,
  datasetOfColumn,
  setColumns,
} from "../../../src/experiment/paper-table/columns.ts";

const COLUMNS = ["NQ", "TriviaQA", "2Wiki", "MuSiQue", "MuSiQue, own corpus", "Avg."];

describe("columns of a paper's table", () => {
  it("are sets of questions, but for the average", () => {
    expect(setColumns(COLUMNS)).toEqual(COLUMNS.slice(0, -1));
  });

  it("take the dataset whose name begins like theirs, without its split", () => {
    expect(columnOf("2wikimultihopqa:dev", COLUMNS)).toBe("2Wiki");
    expect(columnOf("nq:test", COLUMNS)).toBe("NQ");
    expect(columnOf("musique:dev", COLUMNS)).toBe("MuSiQue");
    expect(columnOf("bamboogle:test", COLUMNS)).toBeNull();
  });

  it("look at a file's name first and then at its folders, each from its beginning", () => {
    expect(columnOf("/nq/triviaqa.jsonl", COLUMNS)).toBe("TriviaQA");
    expect(columnOf("/data/triviaqa/dev.jsonl", COLUMNS)).toBe("TriviaQA");
    // "inquiries" holds the letters of NQ.
    expect(columnOf("/inquiries/dev.jsonl", COLUMNS)).toBeNull();
    expect(columnOf("own/musique-own-corpus.jsonl", COLUMNS)).toBe("MuSiQue, own corpus");
  });

  it("are named after published datasets, or after none", () => {
    expect(["HotpotQA", "2Wiki", "own", "K&K"].map(datasetOfColumn)).toEqual([
      ...["hotpotqa", "2wikimultihopqa", null, null],
    ]);
  });
});

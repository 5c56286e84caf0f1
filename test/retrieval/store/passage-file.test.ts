import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  openPassages,
  passageWriter,
  passageLine,
} from "../../../src/retrieval/store/passage-file.ts";
import type { Passage } from "../../../src/trajectory/task.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { madeCorpus } from "../../helpers/made-corpus.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();

/** Writes passages in batches. */
function write(name: string, passages: readonly Passage[], batch: number) {
  const out = passageWriter(join(folder, name));
  for (let from = 0; from < passages.length; from += batch) {
    const lines = passages.slice(from, from + batch).map((each) => `${passageLine(each)}\n`);
    const starts: number[] = [];
    let bytes = 0;
    for (const line of lines) {
      starts.push(bytes);
      bytes += Buffer.byteLength(line);
    }
    out.append(Buffer.from(lines.join("")), Uint32Array.from(starts));
  }
  expect(out.count).toBe(passages.length);
  return out.finish();
}

describe("the passages of a segment", () => {
  it("come back by position, beyond a page of offsets and in any order", async () => {
    const passages = madeCorpus({ count: 2500, seed: 1 });
    passages[7] = { id: "ø", title: "日本\n", text: 'quotes " and \\ and 🦊' };
    passages[1023] = { id: "", title: "", text: "" };
    passages[1500] = { id: "long", title: "t", text: "x".repeat(100_000) };
    const entries = write("many", passages, 300);
    const file = openPassages(join(folder, "many"), entries, 2500);
    for (let i = 0; i < 2500; i++) {
      const position = (i * 1811) % 2500;
      expect(file.read(position)).toEqual(passages[position]);
    }
    expect(Buffer.from(file.readLine(7)).toString()).toBe(`${passageLine(passages[7])}\n`);
    await file.close();
  });

  it("are refused when there are fewer or more than the manifest says", () => {
    const entries = write("counted", madeCorpus({ count: 5, seed: 1 }), 2);
    for (const count of [4, 6]) {
      expect(() => openPassages(join(folder, "counted"), entries, count)).toThrow(
        errorWith("INDEX_CORRUPT", `contains 5 passages, not ${count}`),
      );
    }
  });
});

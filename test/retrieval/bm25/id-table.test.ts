import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  equalHashes,
  findId,
  idCollector,
  idHash,
  readIds,
  writeIds,
} from "../../../src/retrieval/bm25/id-table.ts";
import { openCheckedFile, createFile } from "../../../src/retrieval/store/checked-file.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();

function tableOf(name: string, fill: (ids: ReturnType<typeof idCollector>) => void) {
  const ids = idCollector();
  fill(ids);
  const out = createFile(join(folder, name));
  writeIds(ids.sorted(), out);
  return openCheckedFile(join(folder, name), out.finish());
}

describe("an id table", () => {
  it.each([1, 2, 31, 33, 1000, 30_000])("finds each of %i ids, and no other", (count) => {
    const file = tableOf(`found-${count}`, (ids) => {
      for (let i = 0; i < count; i++) ids.add(`id ${i}`);
      expect(ids.count).toBe(count);
    });
    for (let i = 0; i < count; i++) expect(findId(file, `id ${i}`)).toEqual([i]);
    for (const absent of ["", "id", `id ${count}`, "x", "日本"]) {
      expect(findId(file, absent)).toEqual([]);
    }
    const entries = readIds(file);
    for (let at = 3; at < entries.length; at += 3) {
      expect(entries[at]!).toBeGreaterThanOrEqual(entries[at - 3]!);
    }
    file.close();
  });

  it("gives every position whose id has the hash", () => {
    const [high, low] = idHash("twin");
    const file = tableOf("twins", (ids) => {
      ids.add("a");
      ids.addHash(high, low);
      ids.addHash(high, (low + 1) >>> 0);
      ids.add("twin");
      ids.addHash(high, (low - 1) >>> 0);
    });
    expect(findId(file, "twin")).toEqual([1, 3]);
    file.close();
  });

  it("finds an id however unevenly hashes are spread", () => {
    const [high, low] = idHash("far");
    const file = tableOf("uneven", (ids) => {
      for (let i = 0; i < 20_000; i++) ids.addHash(i % 2 === 0 ? 0 : 0xffff_ffff, i);
      ids.addHash(high, low);
    });
    expect(findId(file, "far")).toEqual([20_000]);
    file.close();
  });
});

describe("equalHashes", () => {
  it("yields the positions of ids that come twice", () => {
    const ids = idCollector();
    for (const id of ["a", "b", "a", "c", "b", "a"]) ids.add(id);
    const pairs = [...equalHashes(ids.sorted())].sort(([x], [y]) => x - y);
    expect(pairs).toEqual([
      [0, 2],
      [1, 4],
      [2, 5],
    ]);
  });
});

describe("idHash", () => {
  it("tells apart ids as corpora have them", () => {
    const seen = new Set<string>();
    let ids = 0;
    for (let i = 0; i < 60_000; i++) {
      for (const id of [`${i}`, `doc-${i}`, `${i % 245}_${i}`, `wiki:${i}#p`]) {
        seen.add(idHash(id).join());
        ids += 1;
      }
    }
    expect(seen.size).toBe(ids);
  });

  it("spreads them evenly in both halves", () => {
    const counts = [new Uint32Array(64), new Uint32Array(64)];
    for (let i = 0; i < 64_000; i++) {
      idHash(`${i}`).forEach((half, which) => (counts[which]![half >>> 26]! += 1));
    }
    // 1 000 each, with a deviation of 31.
    for (const half of counts) {
      expect(Math.min(...half)).toBeGreaterThan(800);
      expect(Math.max(...half)).toBeLessThan(1200);
    }
  });
});

import { copyFile, open, readFile, rename, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { adoptFaiss } from "../../../src/retrieval/dense/adopt-faiss.ts";
import { buildDenseIndex } from "../../../src/retrieval/dense/build-dense-index.ts";
import { checkDenseIndex } from "../../../src/retrieval/dense/check-dense-index.ts";
import { type Encoder, openEncoder } from "../../../src/retrieval/dense/encoder.ts";
import { readFaissFile } from "../../../src/retrieval/dense/faiss-file.ts";
import { openDenseIndex } from "../../../src/retrieval/dense/open-dense-index.ts";
import { openIndexFolder } from "../../../src/retrieval/open-index-folder.ts";
import { searchedText } from "../../../src/retrieval/store/passage-file.ts";
import { retrieverContract } from "../../contracts/retriever.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { faissBytes } from "../../helpers/faiss-bytes.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { writeTinyEncoder } from "../../helpers/tiny-encoder.ts";

const folder = temporaryFolder();
/** Not a multiple of 8: a record of ours has padding, a vector of FAISS has none. */
const D = 18;
const words = Array.from({ length: 60 }, (_, i) => `word${i}`);
const draw = random("faiss");
const passages = Array.from({ length: 700 }, (_, i) => ({
  id: `p${i}`,
  title: words[draw.int(60)]!,
  text: Array.from({ length: 6 }, () => words[draw.int(60)]).join(" "),
}));
const queries = passages.slice(0, 40).map(({ text }) => text);
let encoder: Encoder;
let vectors: Float32Array;

const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  const model = await writeTinyEncoder(at("model"), words, { dimensions: D });
  encoder = await openEncoder(model);
  vectors = await encoder.encodePassages(passages.map((each) => searchedText(each)));
  await writeFile(at("ip.index"), faissBytes(vectors, D));
  await writeFile(at("l2.index"), faissBytes(vectors, D, "l2"));
  await buildDenseIndex(passages, at("own"), { encoder });
  await adopt("ip", "ip.index");
  await adopt("l2", "l2.index");
});

function adopt(name: string, file: string, corpus = passages) {
  return adoptFaiss(corpus, at(name), { faiss: at(file), encoder, source: "corpus.jsonl" });
}

async function written(name: string, changed: Float32Array): Promise<string> {
  await writeFile(at(name), faissBytes(changed, D));
  return name;
}

async function hitsOf(name: string, options = {}) {
  const retriever = await openDenseIndex(at(name), options);
  const hits = await retriever.search(queries, 10);
  await retriever.close();
  return hits;
}

for (const name of ["ip", "l2"]) {
  retrieverContract(`dense, ${name} of FAISS`, () => openDenseIndex(at(name)));
}

describe("an index of a FAISS file", () => {
  it("finds what an index of the same vectors of our own finds, with the same scores", async () => {
    const own = await hitsOf("own");
    expect(await hitsOf("ip")).toEqual(own);
    expect(await hitsOf("ip", { maxMemory: 1e6 })).toEqual(own);
    expect(await hitsOf("ip", { threads: 3 })).toEqual(own);
  });

  it("ranks by the negative squared distance where the file is an IndexFlatL2", async () => {
    const [own, l2] = await Promise.all([hitsOf("own"), hitsOf("l2")]);
    expect(l2.map((each) => each.map(({ id }) => id))).toEqual(
      own.map((each) => each.map(({ id }) => id)),
    );
    // Of vectors of length 1: 2 − 2 cos.
    for (const [q, each] of l2.entries())
      for (const [i, { score }] of each.entries())
        expect(score).toBeCloseTo(2 * own[q]![i]!.score - 2, 5);
  });

  it("is opened as any index folder, passes its check and copies no vectors", async () => {
    const retriever = await openIndexFolder(at("ip"));
    const [hits = []] = await retriever.search(["word1"], 3);
    await retriever.close();
    expect(hits).toHaveLength(3);
    const findings = await checkDenseIndex(at("ip"));
    expect(findings.map(({ check, ok }) => [check, ok])).toEqual([
      ["checksums", true],
      ["self-retrieval", true],
    ]);
    await expect(readFile(at("ip/vectors.bin"))).rejects.toThrow("ENOENT");
  });

  it("tells how well the encoder fits, and has a fingerprint of its own", async () => {
    const { agreement } = await adopt("again", "ip.index");
    expect(agreement).toMatchObject({ sampled: 55, own: 55 });
    expect(agreement.cosine).toBeCloseTo(1, 5);
    const opened = await Promise.all(["ip", "again", "l2", "own"].map((name) => openDenseIndex(at(name)))); // prettier-ignore
    const [ip, again, l2, own] = opened.map(({ fingerprint }) => fingerprint);
    await Promise.all(opened.map((each) => each.close()));
    expect(again).toBe(ip);
    expect(new Set([ip, l2, own]).size).toBe(3);
  });

  it("is searched where the file has moved when its new place is named", async () => {
    await copyFile(at("ip.index"), at("before.index"));
    await adopt("moved", "before.index");
    await rename(at("before.index"), at("after.index"));
    await expect(openDenseIndex(at("moved"))).rejects.toThrow(
      errorWith("INDEX_FAISS", "{ name: dense, index: …, faiss: FILE }"),
    );
    expect(await hitsOf("moved", { faiss: at("after.index") })).toEqual(await hitsOf("own"));
    await expect(openDenseIndex(at("moved"), { faiss: at("l2.index") })).rejects.toThrow(
      errorWith("INDEX_FAISS", "was built with 700 vectors of 18 dimensions (inner-product), but "),
    );
    await expect(openDenseIndex(at("own"), { faiss: at("ip.index") })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", "faiss would have no effect"),
    );
  });

  it.each([0, 3])("never answers from a flipped byte, with %i threads", async (threads) => {
    for (const [file, place] of [
      ["changed.index", 30_000],
      [`flipped-${threads}/vectors.pages`, 20],
    ] as const) {
      await copyFile(at("ip.index"), at("changed.index"));
      await adoptFaiss(passages, at(`flipped-${threads}`), {
        faiss: at("changed.index"),
        encoder,
        overwrite: true,
      });
      const handle = await open(at(file), "r+");
      const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, place);
      await handle.write(Buffer.of(buffer[0]! ^ 4), 0, 1, place);
      await handle.close();
      await expect(hitsOf(`flipped-${threads}`, { threads })).rejects.toThrow(
        errorWith("INDEX_CORRUPT", file.replace(/^.*\//, "")),
      );
      const [finding] = await checkDenseIndex(at(`flipped-${threads}`));
      expect(finding).toMatchObject({ check: "checksums", ok: false });
    }
  });
});

describe("a FAISS file that does not fit", () => {
  it("is refused when it is truncated or too long, with its size and the size it needs", async () => {
    const whole = 45 + 4 * 700 * D;
    await copyFile(at("ip.index"), at("short.index"));
    for (const bytes of [whole - 1, 1000, 46]) {
      await truncate(at("short.index"), bytes);
      await expect(readFaissFile(at("short.index"))).rejects.toThrow(
        errorWith(
          "INDEX_FAISS",
          `ends at byte ${bytes}, and its 700 vectors of 18 dimensions take ${whole} bytes`,
        ),
      );
    }
    await writeFile(at("long.index"), Buffer.concat([faissBytes(vectors, D), Buffer.alloc(7)]));
    await expect(readFaissFile(at("long.index"))).rejects.toThrow(
      errorWith("INDEX_FAISS", `has ${whole + 7} bytes`),
    );
  });

  it("is refused when it is something else: a part of an index, an archive, nothing, a folder", async () => {
    const second = Buffer.from(vectors.buffer, 400);
    for (const [content, code, message] of [
      [second, "INDEX_FAISS", "cat part_aa part_ab > FILE"],
      [Buffer.alloc(0), "INDEX_FAISS", "no type of index that is known here"],
      [Buffer.of(0x1f, 0x8b, 8), "FILE_FORMAT", "is compressed by gzip. Unpack it first: gunzip "],
      [Buffer.from("version https://git-lfs.github.com/spec/v1\n"), "FILE_FORMAT", "git lfs pull"],
    ] as const) {
      await writeFile(at("odd.index"), content);
      await expect(readFaissFile(at("odd.index"))).rejects.toThrow(errorWith(code, message));
    }
    await expect(readFaissFile(folder)).rejects.toThrow(errorWith("FILE_MISSING"));
    await expect(readFaissFile(at("none"))).rejects.toThrow(errorWith("FILE_MISSING"));
  });

  it("is refused with both numbers when vectors and passages are not equally many", async () => {
    await expect(adopt("fewer", "ip.index", passages.slice(1))).rejects.toThrow(
      errorWith("INDEX_FAISS", "has 700 vectors, and corpus.jsonl has 699 passages"),
    );
    await expect(readFile(at("fewer/manifest.json"))).rejects.toThrow("ENOENT");
  });

  it("is refused with both numbers when the encoder has other dimensions", async () => {
    const other = await openEncoder(await writeTinyEncoder(at("other"), words, { dimensions: 16 }));
    const adopted = adoptFaiss(passages, at("x"), { faiss: at("ip.index"), encoder: other });
    await expect(adopted).rejects.toThrow(
      errorWith("INDEX_ENCODER", /its vectors have 18 dimensions, but \S+other gives 16/),
    );
    await other.close();
  });

  it("is refused when its vectors are another model's, or those of the next passages", async () => {
    const foreign = Float32Array.from(vectors, () => draw.normal());
    const shifted = Float32Array.of(...vectors.subarray(D), ...vectors.subarray(0, D));
    for (const changed of [foreign, shifted]) {
      await expect(adopt("x", await written("wrong.index", changed))).rejects.toThrow(
        errorWith(
          "INDEX_FAISS",
          /of 55 sampled passages of corpus\.jsonl, encoded again, only \d+ are nearest to their own vector/,
        ),
      );
    }
  });

  it("is refused when a number is not finite", async () => {
    for (const bad of [NaN, Infinity]) {
      const changed = vectors.with(D * 650 + 3, bad);
      await expect(adopt("x", await written("nan.index", changed))).rejects.toThrow(
        errorWith("INDEX_FAISS", `vector 650 has a number that is not finite (byte ${45 + 4 * (D * 650 + 3)})`), // prettier-ignore
      );
    }
  });
});

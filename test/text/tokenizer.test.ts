import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { BYTE_CHARACTERS } from "../../src/text/byte-characters.ts";
import { loadTokenizer, makeTokenizer } from "../../src/text/tokenizer.ts";
import { wordTokenizer } from "../../src/text/word-tokenizer.ts";
import golden from "../golden/word-tokenizer.json" with { type: "json" };
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const files = wordTokenizer({
  words: golden.words,
  specials: golden.specials as [string, string, ...string[]],
});
const tokenizer = makeTokenizer(files.tokenizer, files.config, "test");

/** Text of the bytes that tokens stand for. */
function spelled(ids: readonly number[]): string {
  return Buffer.concat(ids.map((id) => tokenizer.bytes(id))).toString("utf8");
}

describe("the word tokenizer", () => {
  it("gives the ids that Hugging Face's own library gives", () => {
    // word-tokenizer.json names the library's version and the script.
    expect(golden.texts.map((text) => tokenizer.encode(text))).toEqual(golden.ids);
    expect(golden.ids.map((ids) => tokenizer.decode(ids))).toEqual(golden.decoded);
  });

  it("gives every text back, whatever it holds", () => {
    const draw = random("texts");
    const pieces = [...golden.texts, ...golden.words, ...golden.specials, "\u0000", "\ud83d\ude42"];
    for (let i = 0; i < 200; i++) {
      const parts = Array.from({ length: 1 + draw.int(8) }, () => draw.pick(pieces));
      const code = Array.from({ length: 5 }, () => String.fromCodePoint(1 + draw.int(0xd7fe)));
      const text = draw.shuffle([...parts, ...code]).join("");
      const ids = tokenizer.encode(text);
      expect(tokenizer.decode(ids)).toBe(text);
      expect(spelled(ids)).toBe(text);
    }
  });

  it("makes one token of a known word, and bytes of any other", () => {
    expect(tokenizer.encode("The river Amber")).toHaveLength(3);
    // No word of the list: r, i, v, e, r, s with the space before them.
    expect(tokenizer.encode(" rivers")).toHaveLength(7);
    expect(tokenizer.encode("<search>")).toEqual([2]);
  });

  it("numbers special tokens first, then bytes, then words", () => {
    expect(tokenizer.vocabSize).toBe(golden.specials.length + 256 + golden.words.length - 3);
    expect(Buffer.from(tokenizer.bytes(0)).toString()).toBe("<end>");
    expect([...tokenizer.bytes(6)]).toEqual([0]);
    expect([...tokenizer.bytes(6 + 255)]).toEqual([255]);
    expect(spelled([6 + 256])).toBe("The");
    expect(tokenizer.endId).toBe(0);
  });

  it("has no end where its files name none", () => {
    expect(makeTokenizer(files.tokenizer, {}, "test").endId).toBeNull();
    const config = { eos_token: { content: "<pad>" } };
    expect(makeTokenizer(files.tokenizer, config, "test").endId).toBe(1);
  });
});

describe("loadTokenizer", () => {
  it("reads a folder's two files, the second where it is there", async () => {
    await writeFile(join(folder, "tokenizer.json"), JSON.stringify(files.tokenizer));
    expect((await loadTokenizer(folder)).endId).toBeNull();
    await writeFile(join(folder, "tokenizer_config.json"), JSON.stringify(files.config));
    const loaded = await loadTokenizer(folder);
    expect(loaded.endId).toBe(0);
    expect(loaded.encode("The river")).toEqual(tokenizer.encode("The river"));
    expect(await readFile(join(folder, "tokenizer.json"), "utf8")).toContain("ignore_merges");
  });

  it("says which file is missing or is no tokenizer", async () => {
    await expect(loadTokenizer(join(folder, "nowhere"))).rejects.toMatchObject({
      code: "FILE_MISSING",
    });
    const message = (): unknown => makeTokenizer({ model: { type: "Nothing" } }, {}, "a.json");
    expect(message).toThrow(
      errorWith("TOKENIZER_BAD", "a.json: is not a tokenizer that can be read"),
    );
  });
});

describe("byte characters", () => {
  it("are 256 different printable ones, plain letters standing for themselves", () => {
    expect(new Set(BYTE_CHARACTERS).size).toBe(256);
    expect(BYTE_CHARACTERS[65]).toBe("A");
    // GPT-2's table: the space is Ġ, the line feed Ċ.
    expect([BYTE_CHARACTERS[32], BYTE_CHARACTERS[10]]).toEqual(["Ġ", "Ċ"]);
  });
});

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { BYTE_CHARACTERS } from "../../src/text/token-bytes.ts";
import { loadTokenizer, makeTokenizer } from "../../src/text/tokenizer.ts";
import { wordTokenizer } from "../../src/text/word-tokenizer.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

import golden from "../golden/word-tokenizer.json" with { type: "json" };

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
    expect(message).toThrow(errorWith("TOKENIZER_BAD", "a.json: "));
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

describe("special tokens", () => {
  const parsed = files.tokenizer as { added_tokens: object[] };
  async function loaded(name: string, texts: Record<string, unknown>) {
    const model = join(folder, name);
    await mkdir(model);
    const all = { "tokenizer.json": files.tokenizer, ...texts };
    for (const [file, value] of Object.entries(all))
      await writeFile(join(model, file), JSON.stringify(value));
    return loadTokenizer(model);
  }

  it("come from tokenizer_config.json, or else from special_tokens_map.json", async () => {
    const { endId, padId, beginId, specialTokens } = await loaded("map", {
      "tokenizer_config.json": { eos_token: "<end>", pad_token: null },
      "special_tokens_map.json": { eos_token: "<pad>", pad_token: { content: "<pad>" } },
    });
    expect({ endId, padId, beginId }).toEqual({ endId: 0, padId: 1, beginId: null });
    expect(specialTokens).toEqual({ eos_token: "<end>", pad_token: "<pad>" });
  });

  it("end a completion, and so do those of generation_config.json", async () => {
    const generation = { "generation_config.json": { eos_token_id: [1, 0] } };
    const config = { "tokenizer_config.json": { eos_token: "<end>" } };
    expect((await loaded("both", { ...config, ...generation })).endIds).toEqual([0, 1]);
    const nameless = await loaded("generation", generation);
    expect([nameless.endId, nameless.endIds]).toEqual([1, [1, 0]]);
    const one = await loaded("one", { "generation_config.json": { eos_token_id: 0 } });
    expect(one.endIds).toEqual([0]);
  });

  it("may stand in tokenizer_config.json alone", async () => {
    const id = tokenizer.vocabSize;
    const more = await loaded("added", {
      "tokenizer_config.json": {
        added_tokens_decoder: { [id]: { content: "<|later|>", special: true, normalized: false } },
      },
    });
    expect(more.encode("The<|later|>")).toEqual([...tokenizer.encode("The"), id]);
    expect(more.decode([id])).toBe("<|later|>");
    expect(more.vocabSize).toBe(id + 1);
    expect(parsed.added_tokens).not.toContainEqual(expect.objectContaining({ id }));
  });

  it("begin a sequence where add_bos_token says so and no post-processor does, and only once", async () => {
    const config = { bos_token: "<pad>", add_bos_token: true };
    const begins = await loaded("begins", { "tokenizer_config.json": config });
    const river = tokenizer.encode("The river");
    expect(begins.encodeStart("The river")).toEqual([1, ...river]);
    expect(begins.encodeStart("<pad>The river")).toEqual([1, ...river]);
    expect(begins.encode("The river")).toEqual(river);
    expect(tokenizer.encodeStart("The river")).toEqual(river);
  });

  it("of another type than text are an error that names the file and key", async () => {
    await expect(loaded("odd", { "tokenizer_config.json": { eos_token: 3 } })).rejects.toThrow(
      errorWith("TOKENIZER_BAD", "tokenizer_config.json: eos_token is 3"),
    );
  });
});

describe("pieces of SentencePiece", () => {
  /** A vocabulary whose last piece, if it is given, reaches over the place before a word. */
  const pieces = (...further: string[]) => {
    const vocab = Object.fromEntries(["a", "b", "▁", "▁b", ...further].map((each, i) => [each, i]));
    const merges = [["▁", "b"], ...(further.length > 0 ? [["a", "▁b"]] : [])];
    const json = {
      added_tokens: [],
      post_processor: null,
      pre_tokenizer: null,
      normalizer: { type: "Replace", pattern: { String: " " }, content: "▁" },
      decoder: { type: "Replace", pattern: { String: "▁" }, content: " " },
      model: { type: "BPE", vocab, merges },
    };
    return makeTokenizer(json, {}, "pieces");
  };

  it("begin at words, unless one of the vocabulary reaches over several", () => {
    expect(pieces().encode("a b b")).toEqual([0, 3, 3]);
    expect(pieces("a▁b").encode("a b b")).toEqual([4, 3]);
    expect(pieces("a▁b").decode([4, 3])).toBe("a b b");
  });
});

import { describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { stopText } from "../../src/engine/local/stop-text.ts";
import { makeTokenizer, type Tokenizer } from "../../src/text/tokenizer.ts";
import type { TokenizerFiles } from "../../src/text/tokenizer-files.ts";
import {
  bert,
  gpt2,
  hasSharedVocabularies,
  llamaSentencePiece,
  qwen2,
  vectorNames,
  vectors,
} from "../helpers/shared-vocabularies.ts";

// Needs ../shared/data/tokenizers (vocabularies and vectors of llama.cpp, Qwen's ranks); skipped where that is absent.
const made = new Map<() => TokenizerFiles, Tokenizer>();
function tokenizerOf(files: () => TokenizerFiles): Tokenizer {
  const { tokenizer, config } = files();
  const known = made.get(files) ?? makeTokenizer(tokenizer, config, files.name);
  made.set(files, known);
  return known;
}

/** Vectors whose tokenizer cannot be built, and why. Its kind is tried in tokenizer-kinds.test.ts. */
const UNBUILDABLE: Readonly<Record<string, string>> = {
  "llama-bpe": "Llama 3's vocabulary is in no file there, and its ids cannot be had without it.",
};
const buildable = [
  ["gpt-2", gpt2],
  ["llama-spm", llamaSentencePiece],
  // Phi-3's first 32 000 tokens are Llama's; no vector holds another.
  ["phi-3", llamaSentencePiece],
  ["bert-bge", bert],
  ["qwen2", qwen2],
] as const;

describe.skipIf(!hasSharedVocabularies).each(buildable)("the vectors of %s", (name, files) => {
  const tokenizer = hasSharedVocabularies ? tokenizerOf(files) : (null as unknown as Tokenizer);

  it("have the recorded ids, all of them", () => {
    const recorded = vectors(name);
    expect(recorded).toHaveLength(46);
    for (const { text, ids } of recorded) expect(tokenizer.encodeStart(text)).toEqual(ids);
  });

  it.skipIf(name === "bert-bge")("come back from their ids", () => {
    for (const { text } of vectors(name)) {
      const ids = tokenizer.encode(text);
      expect(tokenizer.decode(ids)).toBe(text);
      expect(Buffer.concat(ids.map((id) => tokenizer.bytes(id))).toString("utf8")).toBe(text);
    }
  });
});

describe.skipIf(!hasSharedVocabularies)("real vocabularies", () => {
  it("are built for every file of vectors, but for those that are listed", () => {
    const tried = [...buildable.map(([name]) => name), ...Object.keys(UNBUILDABLE)];
    expect(vectorNames()).toEqual(tried.sort());
  });

  it("split white space as Unicode has it: U+FEFF is none, U+0085 is", () => {
    const tokenizer = tokenizerOf(gpt2);
    // Ids of Hugging Face's tokenizers 0.23.3.
    expect(tokenizer.encode("\ufeff're")).toEqual([171, 119, 123, 6, 260]);
    expect(tokenizer.encode("5 \u0085(")).toEqual([20, 220, 126, 227, 7]);
  });

  it("put a space before the first word of a sequence only", () => {
    const tokenizer = tokenizerOf(llamaSentencePiece);
    expect(tokenizer.encodeStart("Hello world")).toEqual([15043, 3186]);
    expect(tokenizer.decode([15043, 3186])).toBe(" Hello world");
    const ids = [...tokenizer.encodeStart("Hello"), ...tokenizer.encode("\nworld")];
    expect(tokenizer.decode(ids)).toBe(" Hello\nworld");
    // No piece has a line feed: it is the byte <0x0A>, id 13.
    expect(ids).toEqual([15043, 13, 11526]);
  });

  it("spell é as a letter, not as the byte that it stands for in byte-level vocabularies", () => {
    const tokenizer = tokenizerOf(llamaSentencePiece);
    expect(tokenizer.decode(tokenizer.encode("café ½"))).toBe("café ½");
  });

  it.each([gpt2, llamaSentencePiece, qwen2])("find stop strings across tokens: %o", (files) => {
    const tokenizer = tokenizerOf(files);
    const draw = random("stop strings");
    const pieces = ["a", "b", " ", "<", ">", "/", "\n", "é", "🦙", "東京", "</sear", "ch>", "🚀"];
    for (let i = 0; i < 300; i++) {
      const text = Array.from({ length: 12 }, () => draw.pick(pieces)).join("");
      const strings = [draw.pick(["</search>", "京🦙", "🚀é"]), draw.pick(["a b", "東"])];
      const watch = stopText(strings);
      const ids = tokenizer.encode(text);
      const stopped = ids.findIndex((id) => watch.push(tokenizer.bytes(id)));
      // By the whole text after each token, taken anew.
      const expected = ids.findIndex((_, j) => {
        const soFar = tokenizer.decode(ids.slice(0, j + 1));
        return strings.some((each) => soFar.includes(each));
      });
      expect(stopped).toBe(expected);
    }
  });

  it("wait for the rest of a character that several tokens make up", () => {
    const tokenizer = tokenizerOf(qwen2);
    const ids = tokenizer.encode("𓀀"); // four bytes
    expect(ids.length).toBeGreaterThan(1);
    expect(tokenizer.decode(ids)).toBe("𓀀");
    expect(tokenizer.decode(ids.slice(0, 1))).toBe("\ufffd");
    const watch = stopText(["𓀀"]);
    expect(ids.map((id) => watch.push(tokenizer.bytes(id))).indexOf(true)).toBe(ids.length - 1);
  });
});

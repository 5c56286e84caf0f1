import { describe, expect, it } from "vitest";
import { makeTokenizer } from "../../src/text/tokenizer.ts";
import { wordTokenizer } from "../../src/text/word-tokenizer.ts";
import { errorWith } from "../helpers/error-with.ts";

type Json = ReturnType<typeof parts>;

/** A tokenizer of three merges. */
function parts() {
  const { tokenizer } = wordTokenizer({ words: ["ab", "abc"], specials: ["<end>", "<pad>"] });
  const json = structuredClone(tokenizer) as {
    added_tokens: { id: number; content: string }[];
    model: Record<string, unknown> & { vocab: Record<string, unknown> };
  };
  json.model["ignore_merges"] = false;
  json.model["merges"] = [["a", "b"], "ab c"];
  return json;
}

function load(change: (json: Json) => void) {
  const json = parts();
  change(json);
  return makeTokenizer(json, {}, "tokenizer.json");
}

describe("the vocabulary of tokenizer.json", () => {
  it("is read where it is sound", () => {
    const tokenizer = load(() => undefined);
    expect(tokenizer.decode(tokenizer.encode("abc"))).toBe("abc");
  });

  it.each<[string, (json: Json) => void]>([
    ['model.type is "Quux"', ({ model }) => (model["type"] = "Quux")],
    ['model.type is "WordLevel"', ({ model }) => (model["type"] = "WordLevel")],
    ['"ab" is -5', ({ model }) => (model.vocab["ab"] = -5)],
    ['"ab" is 1.5', ({ model }) => (model.vocab["ab"] = 1.5)],
    ['"ab" is "7"', ({ model }) => (model.vocab["ab"] = "7")],
    ['"ab" is 4294967296', ({ model }) => (model.vocab["ab"] = 2 ** 32)],
    ["have one id, 7", ({ model }) => (model.vocab["ab"] = 7)],
    ['"<pad>" has two ids, 1 and 9000', ({ added_tokens }) => (added_tokens[1]!.id = 9000)],
    [
      '"<end>" and "<new>" have one id, 0',
      ({ added_tokens }) => (added_tokens[0]!.content = "<new>"),
    ],
    ["added_tokens: 0: id", ({ added_tokens }) => (added_tokens[0]!.id = -1)],
    ["model.vocab is []", ({ model }) => (model.vocab = [] as never)],
    ['no "zz"', ({ model }) => (model["merges"] = ["zz a"])],
    ['no "ba"', ({ model }) => (model["merges"] = ["b a"])],
    ["not two tokens", ({ model }) => (model["merges"] = ["a b c"])],
    ["not two tokens", ({ model }) => (model["merges"] = [7])],
    ["model.merges is 3", ({ model }) => (model["merges"] = 3)],
    [
      "model.vocab.1 is",
      ({ model }) => Object.assign(model, { type: "Unigram", vocab: [["a", 0], "b"] }),
    ],
    [
      "model.unk_id is 9",
      ({ model }) => Object.assign(model, { type: "Unigram", vocab: [["a", 0]], unk_id: 9 }),
    ],
    [
      "have one id, 1",
      ({ model }) =>
        Object.assign(model, {
          type: "Unigram",
          vocab: [
            ["<end>", 0],
            ["x", 0],
          ],
          unk_id: 0,
        }),
    ],
  ])("is refused: %s", (message, change) => {
    expect(() => load(change)).toThrow(errorWith("TOKENIZER_BAD", message));
  });
});

import { describe, expect, it } from "vitest";
import { makeTokenizer } from "../../src/text/tokenizer.ts";
import golden from "./tokenizer-kinds.json" with { type: "json" };

// tokenizer-kinds.json names the library, its version and the script that trained these and recorded what they make of texts.
const kinds = Object.entries(golden.kinds);

describe.each(kinds)("a tokenizer of the %s kind", (name, kind) => {
  const { texts } = golden;
  const tokenizer = makeTokenizer(kind.tokenizer, kind.config, name);
  const spaced = name === "llama-2" || name === "metaspace";

  it("gives texts at the start of a sequence the ids that Hugging Face's library gives", () => {
    // Its end token is not ours to add.
    const end = tokenizer.endId;
    const expected = kind.whole.map((ids) => (ids.at(-1) === end && spaced ? ids.slice(0, -1) : ids));
    // Where tokenizer.json has no post-processor, add_bos_token decides.
    const begins = name === "tekken" ? expected.map((ids) => [tokenizer.beginId, ...ids]) : expected;
    const got = texts.map((text) => tokenizer.encodeStart(text));
    expect(got.map(withoutSecondBegin)).toEqual(begins.map(withoutSecondBegin));
  });

  it("gives texts within a sequence the ids that they have there", () => {
    const expected = spaced ? kind.after : kind.ids;
    for (const [i, ids] of expected.entries()) {
      if (ids !== null) expect(tokenizer.encode(texts[i]!)).toEqual(ids);
    }
  });

  // SentencePiece writes ▁ for a space, so that one in a text is taken for it: Hugging Face's library does the same.
  const kept = (text: string): string => (spaced ? text.replaceAll("▁", " ") : text);

  it("gives every text back", () => {
    for (const text of texts) expect(tokenizer.decode(tokenizer.encode(text))).toBe(kept(text));
  });

  it("decodes as the library does, apart from the space that a first word gets", () => {
    const got = kind.ids.map((ids) => tokenizer.decode(ids));
    const dropped = got.map((text) => (spaced ? text.replace(/^ /, "") : text));
    expect(dropped).toEqual(kind.decoded);
  });

  it("decodes a sequence as the sum of its pieces' bytes", () => {
    const ids = texts.flatMap((text) => tokenizer.encode(text));
    const bytes = ids.map((id) => tokenizer.bytes(id));
    expect(Buffer.concat(bytes).toString("utf8")).toBe(kept(texts.join("")));
    expect(tokenizer.decode(ids)).toBe(kept(texts.join("")));
  });

  function withoutSecondBegin(ids: readonly (number | null)[]): readonly (number | null)[] {
    return ids[0] === tokenizer.beginId && ids[1] === tokenizer.beginId ? ids.slice(1) : ids;
  }
});

import { describe, expect, it } from "vitest";
import { searchR1 } from "../../src/env/protocols/search-r1.ts";
import { cutTokens, tokensThrough } from "../../src/rollout/cut-tokens.ts";
import type { Tokenizer } from "../../src/text/tokenizer.ts";
import { tagTokenizer, tokenizer } from "../helpers/search-world.ts";

const protocol = searchR1.create({});
const cut = (text: string, ended: boolean, using: Tokenizer = tokenizer) => {
  const ids = using.encode(text);
  if (ended) ids.push(using.endId!);
  const logprobs = ids.map((_, i) => -i);
  const kept = cutTokens({ ids, logprobs, finish: "length" }, using, protocol);
  expect(kept.ids).toEqual(ids.slice(0, kept.ids.length));
  expect(kept.logprobs).toEqual(logprobs.slice(0, kept.ids.length));
  return { tokens: using.decode(kept.ids), text: kept.text };
};

describe("cutTokens", () => {
  it("keeps the ids through the one that closes the cut", () => {
    expect(cut("<search> Oslo</search> and so on", true)).toEqual({
      tokens: "<search> Oslo</search>",
      text: "<search> Oslo</search>",
    });
  });

  it("keeps a token that straddles the cut whole, and cuts the text within it", () => {
    const wide = tagTokenizer("</search>!!");
    expect(wide.encode("</search>!!")).toHaveLength(1);
    expect(cut("<search> Oslo</search>!! and so on", false, wide)).toEqual({
      tokens: "<search> Oslo</search>!!",
      text: "<search> Oslo</search>",
    });
  });

  it("keeps an end token right after the cut, and drops it with whatever comes before it", () => {
    expect(cut("<answer> Oslo</answer>", true)).toEqual({
      tokens: "<answer> Oslo</answer><|end|>",
      text: "<answer> Oslo</answer>",
    });
    expect(cut("<answer> Oslo</answer> I think", true).tokens).toBe("<answer> Oslo</answer>");
  });

  it("keeps everything where there is nothing to cut, the end token outside of the text", () => {
    expect(cut("I do not know", true)).toEqual({
      tokens: "I do not know<|end|>",
      text: "I do not know",
    });
    expect(cut("", true)).toEqual({ tokens: "<|end|>", text: "" });
    expect(cut("", false)).toEqual({ tokens: "", text: "" });
  });

  it("counts characters that take several tokens or two units of UTF-16", () => {
    expect(cut("<search> 雪😀</search> 雪", false).tokens).toBe("<search> 雪😀</search>");
  });
});

describe("tokensThrough", () => {
  it("gives the fewest tokens that reach a length, at any length", () => {
    const text = "<search> the capital 雪😀 of Oslo</search>xyz";
    const ids = tokenizer.encode(text);
    for (let length = 1; length <= text.length; length++) {
      const count = tokensThrough(ids, length, tokenizer);
      expect(tokenizer.decode(ids.slice(0, count)).length).toBeGreaterThanOrEqual(length);
      // A character that is not whole yet does not count.
      const before = tokenizer.decode(ids.slice(0, count - 1)).replace(/\ufffd+$/, "");
      expect(before.length).toBeLessThan(length);
    }
  });
});

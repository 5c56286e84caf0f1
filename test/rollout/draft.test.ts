import { describe, expect, it } from "vitest";
import { searchR1 } from "../../src/env/protocols/search-r1.ts";
import { wholeTokens } from "../../src/rollout/cut-tokens.ts";
import { type Draft, emptyDraft } from "../../src/rollout/draft.ts";
import type { Tokenizer } from "../../src/text/tokenizer.ts";
import { tagTokenizer, tokenizer } from "../helpers/search-world.ts";

const protocol = searchR1.create({});

/** A draft, its tokens' log-probabilities numbered from -1 downwards. */
function drafting(using: Tokenizer = tokenizer, prefill = "") {
  const ids = prefill === "" ? [] : [using.encode(prefill)];
  const draft = emptyDraft(using, protocol, { text: prefill, ids });
  let token = 0;
  const write = (text: string, ended = false): void => {
    const written = using.encode(text);
    if (ended) written.push(using.endId!);
    draft.write({ ids: written, logprobs: written.map(() => -++token), finish: "eos" });
  };
  const interrupt = (keep: number, text: string, limit = 1000): boolean =>
    draft.interrupt({ name: "hint", keep, text }, limit);
  const read = (): string[] =>
    draft.segments().map(({ owner, ids: own }) => `${owner}: ${using.decode(own)}`);
  return { draft, write, interrupt, read };
}

/** What must hold of every draft: its segments say its text, and every token of the policy's has its own log-probability. */
function isSound(draft: Draft, using: Tokenizer, prefill = ""): void {
  const decoded = using.decode(draft.ids()).replace("<|end|>", "");
  expect(decoded.startsWith(prefill + draft.text())).toBe(true);
  for (const { owner, ids, logprobs } of draft.segments()) {
    expect(logprobs?.length ?? null).toBe(owner === "policy" ? ids.length : null);
  }
}

describe("a message that is interrupted", () => {
  it("keeps what stands before the place with its log-probabilities, and takes the end token back", () => {
    const { draft, write, interrupt, read } = drafting();
    write("<think> the capital", true);
    expect(interrupt("<think> the capital".length, " Hm.")).toBe(true);
    write("</think>", true);
    expect(read()).toEqual([
      "policy: <think> the capital",
      "inserted:  Hm.",
      "policy: </think><|end|>",
    ]);
    expect(draft.segments()[0]!.logprobs).toEqual([-1, -2, -3]);
    expect(draft.segments()[2]!.logprobs).toEqual([-5, -6]);
    expect(draft.text()).toBe("<think> the capital Hm.</think>");
    expect(draft.put()).toEqual([{ name: "hint", text: " Hm.", at: 19 }]);
    isSound(draft, tokenizer);
  });

  it("says the part of a token again that stays, in tokens of its own", () => {
    const { draft, write, interrupt, read } = drafting();
    write("<think> capital of");
    expect(interrupt("<think> cap".length, "[H]")).toBe(true);
    expect(read()).toEqual(["policy: <think>", "inserted:  cap[H]"]);
    expect(draft.text()).toBe("<think> cap[H]");
    const hint = tokenizer.encode("[H]");
    expect(draft.ids().slice(-hint.length)).toEqual(hint);
    isSound(draft, tokenizer);
  });

  it("is never cut within a character, at any place", () => {
    const text = "a雪😀b é c";
    for (let keep = 0; keep <= text.length; keep++) {
      const { draft, write, interrupt } = drafting();
      write(text);
      expect(interrupt(keep, "!")).toBe(true);
      const stays = keep === 3 ? 2 : keep;
      expect(draft.text()).toBe(`${text.slice(0, stays)}!`);
      expect(tokenizer.decode(draft.ids())).toBe(draft.text());
    }
  });

  it("is interrupted as often as it is told, and never before what was put there", () => {
    const { draft, write, interrupt, read } = drafting();
    write("<think> one two");
    interrupt("<think> one".length, "[1]");
    write(" three four");
    interrupt("<think> one[1] three".length, "[2]");
    write(" five");
    // Would take the second hint back.
    interrupt(3, "[3]");
    expect(read()).toEqual([
      ...["policy: <think> one", "inserted: [1]", "policy:  three", "inserted: [2]"],
      "inserted: [3]",
    ]);
    expect(draft.put().map(({ at }) => at)).toEqual([11, 20, 23]);
    isSound(draft, tokenizer);
  });

  it("stays as it is where text and a token to go on with have no room", () => {
    const { draft, write, interrupt } = drafting();
    write("<think> the capital of", true);
    const before = JSON.stringify(draft.segments());
    const room = 2 + tokenizer.encode("abc").length;
    expect(interrupt("<think> the".length, "abc", room)).toBe(false);
    expect(JSON.stringify(draft.segments())).toBe(before);
    expect([draft.text(), draft.put()]).toEqual(["<think> the capital of", []]);
    expect(interrupt("<think> the".length, "abc", room + 1)).toBe(true);
  });

  it("ends with a hint that closes it, cut where the protocol cuts", () => {
    const { draft, write, interrupt, read } = drafting();
    write("<think> so</think><search> Oslo");
    expect(draft.isWhole()).toBe(false);
    expect(interrupt("<think> so".length, "</think><search>rain</search> and on")).toBe(true);
    expect(draft.isWhole()).toBe(true);
    expect(read().at(-1)).toBe("inserted: </think><search>rain</search>");
  });

  it("takes nothing after its end: such text would not be read", () => {
    const { draft, write, interrupt } = drafting();
    write("<answer> Oslo</answer>", true);
    expect(interrupt("<answer> Oslo</answer>".length, " Or not?")).toBe(false);
    expect(draft.put()).toEqual([]);
  });

  it("looks for its end in what it was made to begin with, too", () => {
    const { draft, write, read } = drafting(tokenizer, "<think> a</think><search>");
    expect(draft.isWhole()).toBe(false);
    write(" Oslo</search> more");
    expect(read()).toEqual(["inserted: <think> a</think><search>", "policy:  Oslo</search>"]);
    expect(drafting(tokenizer, "<search> x</search>").draft.isWhole()).toBe(true);
  });

  it("takes a token back that straddled its end", () => {
    const wide = tagTokenizer("</search>!!");
    const { draft, write, interrupt, read } = drafting(wide);
    write("<search> Oslo</search>!! and");
    expect(draft.text()).toBe("<search> Oslo</search>");
    expect(interrupt("<search> Oslo".length, " rain")).toBe(true);
    expect(read()).toEqual(["policy: <search> Oslo", "inserted:  rain"]);
  });
});

describe("wholeTokens", () => {
  it("counts no token that ends within a character, after bytes that are no text, too", () => {
    const [lone, ...snow] = [0xff, 0xe9, 0x9b, 0xaa].map((byte) => byteToken(byte));
    const ids = [lone!, ...snow];
    expect(tokenizer.decode(ids)).toBe(
      "\uFFFD雪".replace("雪", Buffer.from([0xe9, 0x9b, 0xaa]).toString()),
    );
    expect([0, 1, 2].map((length) => wholeTokens(ids, length, tokenizer))).toEqual([0, 1, 4]);
  });
});

/** The token of one byte. */
function byteToken(byte: number): number {
  const all = Array.from({ length: tokenizer.vocabSize }, (_, id) => id);
  return all.find((id) => {
    const own = tokenizer.bytes(id);
    return own.length === 1 && own[0] === byte;
  })!;
}

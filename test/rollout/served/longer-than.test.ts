import { expect, it } from "vitest";
import { isLongerThan } from "../../../src/rollout/served/longer-than.ts";
import { tokenizer } from "../../helpers/search-world.ts";

/** The tokenizer, with the characters that it has encoded. */
function counted() {
  const seen = { characters: 0 };
  const encode = (text: string): number[] => {
    seen.characters += text.length;
    return tokenizer.encode(text);
  };
  return { seen, encode };
}

it.each([
  ["words", "some words of text ".repeat(20_000)],
  ["one word", "a".repeat(400_000)],
  ["white space", " ".repeat(400_000)],
])("finds %s too long by their beginning", async (_, text) => {
  const { seen, encode } = counted();
  expect(await isLongerThan(1000, text, { encode })).toBe(true);
  expect(seen.characters).toBeLessThan(40_000);
});

it("takes a long text of exactly the tokens that are allowed", async () => {
  const text = "some words of text ".repeat(3000);
  const { length } = tokenizer.encode(text);
  expect(await isLongerThan(length, text, tokenizer)).toBe(false);
  expect(await isLongerThan(length - 10, text, tokenizer)).toBe(true);
});

it("lets others have their turn while it counts", async () => {
  const order: string[] = [];
  setImmediate(() => order.push("other"));
  await isLongerThan(Infinity, "some words of text ".repeat(2000), tokenizer);
  order.push("counted");
  expect(order).toEqual(["other", "counted"]);
});

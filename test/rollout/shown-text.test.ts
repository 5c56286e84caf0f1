import { describe, expect, it } from "vitest";
import { withShownText } from "../../src/rollout/shown-text.ts";
import { tokenizer } from "../helpers/search-world.ts";

const ids = tokenizer.encode("Question: Oslo?\nwho? yes");
const isAsked = ids.map((_, i) => i === ids.length - 1);
const shown = { after: "Oslo?", text: " Search" };

describe("a text that only the scoring model reads", () => {
  it("stands right after the first occurrence, and takes no place in what is given back", () => {
    const widened = withShownText(
      { ids, isAsked, temperatures: ids.map(() => 0.5), shown },
      tokenizer,
    );
    expect(tokenizer.decode(widened!.ids)).toBe("Question: Oslo? Search\nwho? yes");
    const added = tokenizer.encode(" Search").length;
    const at = tokenizer.encode("Question: Oslo?").length;
    expect(widened!.isAsked).toHaveLength(ids.length + added);
    expect(widened!.isAsked.indexOf(true)).toBe(ids.length + added - 1);
    expect(widened!.temperatures!.slice(at, at + added)).toEqual(
      Array.from({ length: added }, () => 1),
    );
    const given = widened!.ids.map((_, i) => i);
    expect(widened!.narrow(given)).toEqual(given.filter((i) => i < at || i >= at + added));
  });

  it("is not read where what it comes after is absent", () => {
    expect(
      withShownText({ ids, isAsked, shown: { after: "Paris", text: " Search" } }, tokenizer),
    ).toBeNull();
  });

  it("changes nothing where nothing is shown", () => {
    const widened = withShownText({ ids, isAsked }, tokenizer)!;
    expect(widened.ids).toEqual(ids);
    expect(widened.narrow([1, 2])).toEqual([1, 2]);
  });
});

import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { reciprocalRankFusion } from "../../../src/retrieval/combine/fusion.ts";
import { hitsOf, shown } from "../../helpers/listed-retriever.ts";

describe("reciprocalRankFusion", () => {
  it("adds 1 / (k + rank) over the lists", () => {
    // b: 1/62 + 1/61, a: 1/61, c: 1/62.
    expect(shown(reciprocalRankFusion([hitsOf("a", "b"), hitsOf("b", "c")]))).toEqual([
      "b 0.0325",
      "a 0.0164",
      "c 0.0161",
    ]);
    // With k 0 and weights 1 and 2: a 1, b 1/2 + 2, c 1.
    const lists = [hitsOf("a", "b"), hitsOf("b", "c")];
    expect(shown(reciprocalRankFusion(lists, { k: 0, weights: [1, 2] }))).toEqual([
      "b 2.5",
      "a 1",
      "c 1",
    ]);
  });

  it("breaks ties by best rank, then by the order of the lists", () => {
    expect(shown(reciprocalRankFusion([hitsOf("a"), hitsOf("b")]))).toEqual([
      "a 0.0164",
      "b 0.0164",
    ]);
    // b and c stand first once and third once, b first in the earlier list; a is second twice, which is less.
    const lists = [hitsOf("b", "a", "c"), hitsOf("c", "a", "b")];
    expect(reciprocalRankFusion(lists).map(({ id }) => id)).toEqual(["b", "c", "a"]);
    expect(reciprocalRankFusion(lists.toReversed()).map(({ id }) => id)).toEqual(["c", "b", "a"]);
    // a and b stand first once and fourth once; a first in the earlier list, b met first.
    const met = [hitsOf("w", "x", "y", "b"), hitsOf("a"), hitsOf("b", "u", "v", "a")];
    const ids = reciprocalRankFusion(met).map(({ id }) => id);
    expect(ids).toEqual(["a", "b", "w", "x", "u", "y", "v"]);
  });

  it("gives the same scores in whatever order the lists stand", () => {
    const stream = random(5);
    for (let trial = 0; trial < 200; trial++) {
      const lists = Array.from({ length: 4 }, () =>
        hitsOf(...stream.shuffle("abcdefgh".split("")).slice(0, 1 + stream.int(8))),
      );
      const scores = new Map(reciprocalRankFusion(lists).map(({ id, score }) => [id, score]));
      const shuffled = reciprocalRankFusion(stream.shuffle(lists));
      expect(new Map(shuffled.map(({ id, score }) => [id, score]))).toEqual(scores);
      const inOrder = shuffled.map(({ score }) => score);
      expect(inOrder).toEqual([...inOrder].sort((a, b) => b - a));
    }
  });

  it("keeps the ranking of one list, counts a passage once per list, and takes empty lists", () => {
    expect(reciprocalRankFusion([hitsOf("c", "a", "b"), []]).map(({ id }) => id)).toEqual(
      "cab".split(""),
    );
    expect(shown(reciprocalRankFusion([hitsOf("a", "b", "a")], { k: 0 }))).toEqual([
      "a 1",
      "b 0.5",
    ]);
    expect(reciprocalRankFusion([])).toEqual([]);
  });
});

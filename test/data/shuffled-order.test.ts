import { describe, expect, it } from "vitest";
import { type Dataset, streamed } from "../../src/data/dataset.ts";
import { inShuffledOrder } from "../../src/data/shuffled-order.ts";
import type { Task } from "../../src/trajectory/task.ts";

/** Questions of these types, in this order, numbered from 0. */
function datasetOf(types: readonly (string | undefined)[]): Dataset {
  const tasks = types.map((type, i): Task => {
    const annotations = type === undefined ? {} : { type };
    return { id: `${i}`, question: "", references: [], source: "made", annotations };
  });
  return {
    name: "made",
    fingerprint: "1",
    trainable: true,
    passages: () => [],
    ...streamed(async function* (limit) {
      yield* await Promise.resolve(tasks.slice(0, limit));
    }),
  };
}

const types = [...Array<string>(60).fill("bridge"), ...Array<string>(20).fill("comparison")];

describe("a dataset in shuffled order", () => {
  it("has each type in its share in every beginning", async () => {
    for (const limit of [4, 20, 40]) {
      const some = await inShuffledOrder(datasetOf(types), 7).tasks(limit);
      expect(some).toHaveLength(limit);
      const bridges = some.filter(({ annotations }) => annotations.type === "bridge");
      expect(bridges).toHaveLength((limit * 3) / 4);
    }
  });

  it("has every question once, in an order that the seed decides and the limit does not", async () => {
    const idsOf = async (seed: number, limit?: number): Promise<string[]> =>
      (await inShuffledOrder(datasetOf(types), seed).tasks(limit)).map(({ id }) => id);
    const all = await idsOf(7);
    expect(new Set(all).size).toBe(80);
    expect(all).not.toEqual(types.map((_, i) => `${i}`));
    expect(await idsOf(7, 10)).toEqual(all.slice(0, 10));
    expect(await idsOf(8)).not.toEqual(all);
  });

  it("takes questions without a type as one type, and none as none", async () => {
    const plain = inShuffledOrder(datasetOf([undefined, undefined, undefined]), 1);
    expect((await plain.tasks()).map(({ id }) => id).toSorted()).toEqual(["0", "1", "2"]);
    expect(await inShuffledOrder(datasetOf([]), 1).tasks()).toEqual([]);
  });
});

import { describe, expect, it } from "vitest";
import { retrievers } from "../../../src/retrieval/index.ts";
import type { RetrieverContext } from "../../../src/retrieval/retriever.ts";
import type { Passage } from "../../../src/trajectory/task.ts";
import { collect } from "../../helpers/collect.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { listed, passagesOf } from "../../helpers/listed-retriever.ts";
import "../../helpers/all-parts.ts";

const part = retrievers.get("subset", "test");
const corpus = passagesOf(...Array.from({ length: 200 }, (_, i) => `p${i}`));

/** The ids that the inner retriever is opened over. */
async function idsWith(options: object, passages: readonly Passage[] = corpus): Promise<string[]> {
  let ids: string[] = [];
  const context: RetrieverContext = {
    corpus: () => passages,
    open: async (_, over) => {
      ids = (await collect(over!())).map(({ id }) => id);
      return listed(ids);
    },
  };
  await part.open({ of: "none", ...options }, context);
  return ids;
}

describe("subset", () => {
  it("opens the inner retriever over exactly so many passages, in the order of the corpus", async () => {
    expect(await idsWith({ passages: 30 })).toHaveLength(30);
    expect(await idsWith({ share: 0.25 })).toHaveLength(50);
    expect(await idsWith({ share: 0.001 })).toHaveLength(1);
    expect(await idsWith({ passages: 1000 })).toEqual(corpus.map(({ id }) => id));
    expect(await idsWith({ share: 1 })).toEqual(corpus.map(({ id }) => id));
    const some = await idsWith({ passages: 30 });
    expect(some).toEqual(corpus.map(({ id }) => id).filter((id) => some.includes(id)));
  });

  it("draws by seed, whatever the order of the corpus, a smaller subset within a larger one", async () => {
    const some = await idsWith({ passages: 30 });
    expect((await idsWith({ passages: 30 }, corpus.toReversed())).sort()).toEqual([...some].sort());
    expect(await idsWith({ passages: 40 })).toEqual(expect.arrayContaining(some));
    expect(await idsWith({ passages: 30, seed: 1 })).not.toEqual(some);
  });

  it("has another fingerprint for another choice", async () => {
    const open = (options: object) =>
      part.open(
        { of: "none", ...options },
        {
          corpus: () => corpus,
          open: async (_, over) => listed((await collect(over!())).map(({ id }) => id)),
        },
      );
    const all = await Promise.all([
      open({ share: 0.5 }),
      open({ share: 0.6 }),
      open({ passages: 5 }),
      open({ passages: 5, seed: 1 }),
    ]);
    expect(new Set(all.map(({ fingerprint }) => fingerprint)).size).toBe(4);
  });

  it("refuses an inner retriever that does not read the corpus, and closes it", async () => {
    const inner = listed(["a"]);
    const context = { corpus: () => corpus, open: () => Promise.resolve(inner) };
    await expect(part.open({ of: "none", share: 0.5 }, context)).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", 'subset.of is "none"'),
    );
    expect(inner.closed).toBe(true);
  });

  it("wants one of share and passages", async () => {
    for (const options of [{}, { share: 0.5, passages: 3 }]) {
      await expect(idsWith(options)).rejects.toThrow(
        errorWith("RECIPE_BAD_VALUE", "expected one of share and passages"),
      );
    }
  });
});

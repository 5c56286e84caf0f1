import { ConfigError } from "../../base/errors.ts";
import { random } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import type { Passage } from "../../trajectory/task.ts";
import {
  around,
  defineRetriever,
  retrieverSchema,
  type Retriever,
  type RetrieverContext,
} from "../retriever.ts";
import { corpusOf } from "./corpus-at-hand.ts";

/**
 * Another retriever over a random part of the corpus, drawn by seed and passage id: with one seed, a smaller subset is part of
 * a larger one, and the order of the corpus does not matter. The corpus is streamed, not kept in memory.
 */
export const subset = defineRetriever({
  name: "subset",
  summary: "Another retriever over a share of the corpus: the control for missing knowledge.",
  options: z
    .strictObject({
      of: retrieverSchema,
      /** Share of the passages, rounded, at least one passage. */
      share: z.number().gt(0).max(1).optional(),
      /** Alternatively their number; all passages if there are fewer. */
      passages: z.int().min(1).optional(),
      seed: z.int().min(0).default(0),
    })
    .refine(({ share, passages }) => (share === undefined) !== (passages === undefined), {
      message: "expected one of share and passages, not both",
      path: ["share"],
    }),
  async open({ of, ...choice }, context) {
    const corpus = corpusOf(context, "subset");
    const chosen = await choose(corpus, choice);
    const full = await openOver(of, context, () => only(corpus, chosen));
    return {
      ...around("subset", [full], choice),
      search: (queries, k, asked) => full.search(queries, k, asked),
    };
  },
});

type Corpus = NonNullable<RetrieverContext["corpus"]>;

/** @returns for each position, whether the passage is in the subset. */
async function choose(
  corpus: Corpus,
  {
    share,
    passages,
    seed,
  }: { share?: number | undefined; passages?: number | undefined; seed: number },
): Promise<Uint8Array> {
  const stream = random(seed);
  const draws: number[] = [];
  for await (const { id } of corpus()) draws.push(stream.derive("subset", id).next());
  const wanted = passages ?? Math.max(1, Math.round((share ?? 1) * draws.length));
  const order = Float64Array.from(draws).sort();
  const limit = wanted >= order.length ? Infinity : order[wanted]!;
  // On equal draws (32 bits) at the limit, earlier passages win.
  let ties = wanted - order.findIndex((draw) => draw === limit);
  return Uint8Array.from(draws, (draw) => (draw < limit || (draw === limit && ties-- > 0) ? 1 : 0));
}

async function* only(corpus: Corpus, chosen: Uint8Array): AsyncGenerator<Passage> {
  let position = 0;
  for await (const passage of corpus()) {
    if (chosen[position] === 1) yield passage;
    position += 1;
  }
}

/** @throws {ConfigError} RECIPE_BAD_VALUE when the inner retriever does not read this corpus: it would search all of another one. */
async function openOver(
  of: Parameters<RetrieverContext["open"]>[0],
  context: RetrieverContext,
  corpus: Corpus,
): Promise<Retriever> {
  const readings: unknown[] = [];
  const full = await context.open(of, () => {
    const reading = corpus();
    readings.push(reading);
    return reading;
  });
  if (readings.length > 0) return full;
  await full.close();
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `subset.of is "${of.name}", which does not read the dataset's corpus, so a subset has no effect. Use a retriever without its own index.`,
  );
}

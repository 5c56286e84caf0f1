import type { Task } from "../trajectory/task.ts";
import { ConfigError } from "../base/errors.ts";
import { sha256File } from "../base/files.ts";
import { z } from "../base/schema.ts";
import { type Dataset, datasetSchema, defineDataset } from "./dataset.ts";
import { readPassRates } from "./pass-rates.ts";

/**
 * The questions of another dataset that a policy needed some number of tries for, by the draws of a synthesis or the rows of an evaluation. A question that was
 * never right needed more than were made; one that was not tried is left out.
 *
 * Source: R1-Searcher, arXiv 2503.05592, section 3.1: easy questions need fewer than 10 tries, medium ones 10 to 20, difficult ones more.
 */
export const byTries = defineDataset({
  name: "by-tries",
  summary: "Questions of another dataset, by the tries they took.",
  options: z
    .strictObject({
      of: datasetSchema,
      /** `draws.jsonl` of a synthesis or `rows.jsonl` of an evaluation. */
      rows: z.string(),
      /** Name of the draw to use from a synthesis; default: all draws, in order. */
      draw: z.string().optional(),
      /** Fewest and most tries; without `to`, questions that were never right stay as well. */
      from: z.int().min(1).default(1),
      to: z.int().min(1).optional(),
      /** Most questions, from the start. */
      questions: z.int().min(1).optional(),
    })
    .refine(({ from, to = from }) => from <= to, "expected from to be at most to"),
  async open({ of, rows, draw, from, to = Infinity, questions = Infinity }, { open }) {
    const inner = await open(of);
    const rates = await readPassRates(rows, draw);
    const kept = new Set(
      rates.filter(({ tries }) => tries >= from && tries <= to).map(({ id }) => id),
    );
    if (kept.size === 0)
      throw new ConfigError(
        "RECIPE_BAD_VALUE",
        `by-tries: none of the ${rates.length} questions of ${rows} needed ${from} to ${to === Infinity ? "any number of" : to} tries. Widen the band, or draw more often.`,
      );
    return {
      facts: [inner.fingerprint, await sha256File(rows), draw, from, to, questions],
      trainable: inner.trainable,
      stream: () => among(inner, kept, questions),
      passages: () => inner.passages(),
    };
  },
});

async function* among(
  inner: Dataset,
  kept: ReadonlySet<string>,
  limit: number,
): AsyncGenerator<Task> {
  let made = 0;
  for await (const task of inner.stream()) {
    if (made >= limit) return;
    if (!kept.has(task.id)) continue;
    yield task;
    made += 1;
  }
}

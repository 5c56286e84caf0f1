import type { TrainingRow } from "../engine.ts";
import { microBatches, type MicroBatch } from "./batching.ts";
import type { WorkerLink } from "./worker-link.ts";

type Shard = { rows: readonly TrainingRow[]; batches: MicroBatch[] };

/** Deals micro-batches to the workers; only the rows determine which worker sums what. */
export async function spread<T>(
  rows: readonly TrainingRow[],
  over: { links: readonly WorkerLink[]; microBatchTokens: number; width: number },
  work: (link: WorkerLink, shard: Shard) => Promise<T>,
): Promise<{ places: number[]; answer: T }[]> {
  const { links, microBatchTokens: maxTokens, width } = over;
  const dealt = microBatches(rows, { maxTokens, workers: links.length, width });
  return Promise.all(
    links.map(async (link, w) => {
      const own = dealt[w]!;
      const places = own.flatMap((batch) => batch.rows);
      let at = 0;
      const renumbered = own.map((batch) => ({ ...batch, rows: batch.rows.map(() => at++) }));
      const shard = { rows: places.map((row) => rows[row]!), batches: renumbered };
      return { places, answer: await work(link, shard) };
    }),
  );
}

/** Puts the workers' results into the order of the rows. */
export function mergeRows(
  rows: readonly TrainingRow[],
  parts: readonly { places: readonly number[]; answer: readonly Float32Array[] }[],
): Float32Array[] {
  const merged = new Array<Float32Array>(rows.length);
  for (const { places, answer } of parts) places.forEach((row, i) => (merged[row] = answer[i]!));
  return merged;
}

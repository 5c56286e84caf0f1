import type { TrainingRow } from "../engine.ts";
import { microBatches, type MicroBatch } from "./batching.ts";
import type { WorkerLink } from "./worker-link.ts";

type Shard = { rows: readonly TrainingRow[]; batches: MicroBatch[] };

/** Assigns micro-batches to the workers in turn, so that only the rows determine which worker sums what. */
export async function spread<T>(
  rows: readonly TrainingRow[],
  over: { links: readonly WorkerLink[]; microBatchTokens: number },
  work: (link: WorkerLink, shard: Shard) => Promise<T>,
): Promise<{ places: number[]; answer: T }[]> {
  const { links, microBatchTokens } = over;
  const batches = microBatches(rows, microBatchTokens, links.length);
  return Promise.all(
    links.map(async (link, w) => {
      const own = batches.filter((_, i) => i % links.length === w);
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

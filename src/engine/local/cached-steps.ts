/** What both ways of running a cached decoder share. */
import { CACHE_STEP } from "../../models/sampling-graph.ts";
import { tensorOf, type Tensor } from "../../onnx/session.ts";
import type { NewestToken } from "./cached-model.ts";

/**
 * Pieces of a prompt: the largest sizes that fit, the rest padded to the smallest that holds it.
 * @param sizes ascending.
 */
export function pieces(
  ids: readonly number[],
  at: number,
  sizes: readonly number[],
): { ids: Int32Array; count: number; at: number }[] {
  const cut = [];
  for (let done = 0; done < ids.length;) {
    const size = sizes.find((each) => each >= ids.length - done) ?? sizes.at(-1)!;
    const count = Math.min(size, ids.length - done);
    const padded = new Int32Array(size);
    padded.set(ids.slice(done, done + count));
    cut.push({ ids: padded, count, at: at + done });
    done += count;
  }
  return cut;
}

/** Positions that a cache has room for when it must hold so many: few sizes, because each is compiled anew. */
export function capacityFor(positions: number): number {
  const step = capacityStep(positions);
  return Math.ceil(positions / step) * step;
}

/** By how much a cache of so many positions is longer than the next shorter one. */
export function capacityStep(positions: number): number {
  return positions <= 512 ? CACHE_STEP : 4 * CACHE_STEP;
}

/** Feeds of one run: tokens, their positions, and how many positions each row sees of its cache: those before its first new one. */
export function tokenFeeds(ids: Int32Array, positions: readonly number[]): Record<string, Tensor> {
  const rows = positions.length;
  const chunk = ids.length / rows;
  const starts = Int32Array.from(positions, (at) => Math.max(at, 0));
  const places = ids.map((_, i) => starts[Math.floor(i / chunk)]! + (i % chunk));
  return {
    ids: tensorOf(ids, [rows, chunk]),
    positions: tensorOf(places, [rows, chunk]),
    filled: tensorOf(starts, [rows]),
  };
}

/** 1 / temperature by slot, [slots, 1]; 1 for greedy draws and for idle slots. */
export function inverseTemperatures(newest: readonly (NewestToken | null)[]): Tensor {
  const numbers = Float32Array.from(newest, (each) => {
    const temperature = each?.pick.temperature ?? 1;
    return temperature > 0 ? 1 / temperature : 1;
  });
  return tensorOf(numbers, [newest.length, 1]);
}

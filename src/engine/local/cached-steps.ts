/** What both kinds of cached decoder share: in the memory of the host (cached-model.ts) or of a device (resident-model.ts). */
import type { Random } from "../../base/random.ts";
import { CACHE_STEP } from "../../models/sampling-graph.ts";
import type { Device } from "../../onnx/device.ts";
import { tensorOf, type Tensor } from "../../onnx/session.ts";
import type { PickOptions } from "./pick-token.ts";

/** A decoder with a key/value cache of several slots. */
export interface CachedModel {
  /** Computes keys and values of `ids` at positions `at`, `at` + 1, … of a slot. */
  fill(slot: number, ids: readonly number[], at: number): Promise<void>;
  /** Gives a slot what another holds, from position 0 on. @param count positions that are needed. */
  copy(from: number, to: number, count: number): Promise<void>;
  /**
   * Computes each slot's newest token and draws the one after it. All slots run, whoever needs them, so that a row's result never
   * depends on the others.
   * @param newest by slot; null: the slot is idle and keeps what it has.
   * @returns the draws, by slot.
   */
  step(newest: readonly (NewestToken | null)[]): Promise<(PickedToken | null)[]>;
}

/** A token whose keys and values are computed next, and how its successor is drawn. */
export interface NewestToken {
  id: number;
  position: number;
  pick: PickOptions;
  stream: Random;
}

export interface PickedToken {
  id: number;
  logprob: number;
}

export interface CachedModelOptions {
  device: Device;
  /** Sequences decoded together. */
  slots: number;
}

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

/** Shared by both cached decoders: in host memory (cached-model.ts) and in device memory (resident-model.ts). */
import type { Random } from "../../base/random.ts";
import type { ByteType } from "../../autodiff/ops/quantised.ts";
import { CACHE_STEP } from "../../models/sampling-graph.ts";
import type { Device } from "../../onnx/device.ts";
import { tensorOf, type Tensor } from "../../onnx/session.ts";
import type { PickOptions } from "./pick-token.ts";
import type { SamplingWeightType } from "./storage-dtypes.ts";

/** A decoder with a key/value cache of several slots. */
export interface CachedModel {
  /** Sequences that it holds, each in a slot: some wait for their environment while others are decoded. */
  readonly slots: number;
  /** Sequences that a step decodes at most. */
  readonly rows: number;
  fill(slot: number, ids: readonly number[], at: number): Promise<void>;
  /** Gives the memory of long sequences back: no slot holds anything from now on. A long cache makes every run slow. */
  clear(): Promise<void>;
  /** Gives back what only sampling needs, also constants of its graph, because training begins. */
  rest(): Promise<void>;
  weightsChanged(): void;
  /** Copies a slot's cache from another slot, from position 0. @param count number of positions. */
  copy(from: number, to: number, count: number): Promise<void>;
  /** Draws the next token of each, at most `rows`. A row's result never depends on the others. */
  step(newest: readonly NewestToken[]): Promise<PickedToken[]>;
}

/** A token to compute next, and the sampling options of its successor. */
export type NewestToken = {
  slot: number;
  id: number;
  position: number;
  pick: PickOptions;
  stream: Random;
};

export type PickedToken = { id: number; logprob: number };

export interface CachedModelOptions {
  device: Device;
  /** Sequences decoded together. */
  slots: number;
  /** Matrices that sampling uses in host memory; default the weights. */
  weights?: SamplingWeightType | { type: ByteType };
}

/** Splits a prompt into chunks: the largest sizes that fit, the rest padded to the smallest that fits. @param sizes ascending. */
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

/** Cache capacity for this many positions: few sizes, because each is compiled. */
export function capacityFor(positions: number): number {
  const step = capacityStep(positions);
  return Math.ceil(positions / step) * step;
}

/** Difference between a cache of this many positions and the next shorter one. */
export function capacityStep(positions: number): number {
  return positions <= 512 ? CACHE_STEP : 4 * CACHE_STEP;
}

/** Feeds of one run: tokens, their positions, and the number of cached positions that each row sees. */
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

/** 1 / temperature by row, [rows, 1]; 1 for greedy draws and for idle rows. */
export function inverseTemperatures(newest: readonly (NewestToken | null)[]): Tensor {
  const numbers = Float32Array.from(newest, (each) => {
    const temperature = each?.pick.temperature ?? 1;
    return temperature > 0 ? 1 / temperature : 1;
  });
  return tensorOf(numbers, [newest.length, 1]);
}

import type { Random } from "../../base/random.ts";
import type { DecoderConfig } from "../../models/config.ts";
import type { Device } from "../../onnx/device.ts";
import { hostModel } from "./host-model.ts";
import type { ModelWeights } from "./model-weights.ts";
import type { PickOptions } from "./pick-token.ts";
import { residentModel } from "./resident-model.ts";

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

export function cachedModel(
  config: DecoderConfig,
  weights: ModelWeights,
  options: CachedModelOptions,
): Promise<CachedModel> {
  return options.device.resident
    ? residentModel(config, weights, options)
    : hostModel(config, weights, options);
}

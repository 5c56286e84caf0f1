/** Sliding windows as Qwen2 and Qwen3 write them. */
import { z } from "../../base/schema.ts";
import type { DecoderConfig, SlidingWindow } from "../config.ts";

/** Keys of a `config.json`. Only `use_sliding_window` switches a window on: files carry sizes that are not used. */
export const windowKeys = {
  use_sliding_window: z.boolean().default(false),
  sliding_window: z.int().positive().nullish(),
  max_window_layers: z.int().nonnegative().default(28),
  layer_types: z.array(z.enum(["full_attention", "sliding_attention"])).nullish(),
  // Positions of several dimensions, for pictures.
  use_mrope: z.literal(false).optional(),
};

type WindowKeys = z.output<z.ZodObject<typeof windowKeys>> & { num_hidden_layers: number };

/** The window that the keys mean: `layer_types` says from which layer on, else `max_window_layers` does. */
export function readWindow(keys: WindowKeys): SlidingWindow | null {
  const { use_sliding_window: used, sliding_window: size, num_hidden_layers: layers } = keys;
  if (!used || size == null) return null;
  const first = keys.layer_types?.indexOf("sliding_attention") ?? keys.max_window_layers;
  return first < 0 || first >= layers ? null : { size, fromLayer: first };
}

/** For `refine`: one type a layer, full ones first, and none that slides without a window. */
export function layerTypesFit(keys: WindowKeys): boolean {
  const { layer_types: types, num_hidden_layers: layers } = keys;
  const from = readWindow(keys)?.fromLayer ?? layers;
  if (types == null) return true;
  return (
    types.length === layers && types.every((type, i) => (type !== "full_attention") === i >= from)
  );
}

export const layerTypesMisfit = {
  path: ["layer_types"],
  message:
    "expected one for each of num_hidden_layers, full_attention before sliding_attention, which use_sliding_window and sliding_window switch on",
};

/** `readWindow` the other way. */
export function writeWindow({ slidingWindow, layers }: DecoderConfig): Record<string, unknown> {
  return {
    use_sliding_window: slidingWindow !== null,
    sliding_window: slidingWindow?.size ?? null,
    max_window_layers: slidingWindow?.fromLayer ?? layers,
  };
}

/** Sliding windows in the format of Qwen2 and Qwen3. */
import { z } from "../../base/schema.ts";
import type { DecoderConfig, SlidingWindow } from "../config.ts";

/** Keys of `config.json`. Only `use_sliding_window` enables a window: many files contain unused sizes. */
export const windowKeys = {
  use_sliding_window: z.boolean().default(false),
  sliding_window: z.int().positive().nullish(),
  max_window_layers: z.int().nonnegative().default(28),
  layer_types: z.array(z.enum(["full_attention", "sliding_attention"])).nullish(),
  // Multi-dimensional positions, for images.
  use_mrope: z.literal(false).optional(),
};

type WindowKeys = z.output<z.ZodObject<typeof windowKeys>> & { num_hidden_layers: number };

/** The window of the keys: `layer_types`, or else `max_window_layers`, determines its first layer. */
export function readWindow(keys: WindowKeys): SlidingWindow | null {
  const { use_sliding_window: used, sliding_window: size, num_hidden_layers: layers } = keys;
  if (!used || size == null) return null;
  const first = keys.layer_types?.indexOf("sliding_attention") ?? keys.max_window_layers;
  return first < 0 || first >= layers ? null : { size, fromLayer: first };
}

/** For `refine`: one type per layer, full ones first, and sliding ones only with a window. */
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
    "expected one entry per layer (num_hidden_layers), full_attention before sliding_attention, which use_sliding_window and sliding_window enable",
};

/** The inverse of `readWindow`. */
export function writeWindow({ slidingWindow, layers }: DecoderConfig): Record<string, unknown> {
  return {
    use_sliding_window: slidingWindow !== null,
    sliding_window: slidingWindow?.size ?? null,
    max_window_layers: slidingWindow?.fromLayer ?? layers,
  };
}

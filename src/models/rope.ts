/** Rotary position embedding: its keys in `config.json`, and its frequencies. */
import { choice, quote, z } from "../base/schema.ts";
import type { DecoderConfig, RopeScaling } from "./config.ts";

const factor = z.number().positive();
const common = {
  rope_theta: z.number().positive().optional(),
  partial_rotary_factor: z.literal(1).optional(),
};
const kinds = {
  default: z.strictObject({ rope_type: z.literal("default"), ...common }),
  linear: z.strictObject({ rope_type: z.literal("linear"), factor, ...common }),
  llama3: z
    .strictObject({
      rope_type: z.literal("llama3"),
      factor,
      low_freq_factor: z.number().positive(),
      high_freq_factor: z.number().positive(),
      original_max_position_embeddings: z.int().positive().optional(),
      ...common,
    })
    .refine((given) => given.high_freq_factor > given.low_freq_factor, {
      path: ["high_freq_factor"],
      message: "expected more than low_freq_factor",
    }),
};
type Rope = z.output<(typeof kinds)[keyof typeof kinds]>;

/** One rope configuration; files before transformers 4.45 use `type` for `rope_type`. */
const rope = choice<Rope>((given) => {
  if (typeof given !== "object" || given === null)
    return {
      problem: {
        code: "RECIPE_BAD_VALUE",
        message: `is ${quote(given)}: expected keys and values.`,
      },
    };
  const { type = "default", ...value } = { ...given } as Record<string, unknown>;
  const kind = value["rope_type"] ?? type;
  if (typeof kind !== "string" || !Object.hasOwn(kinds, kind)) {
    const message = `is ${quote(given)}: allowed for rope_type: ${Object.keys(kinds).join(", ")}.`;
    return { problem: { code: "RECIPE_BAD_VALUE", message } };
  }
  const schema: z.ZodType<Rope> = kinds[kind as keyof typeof kinds];
  return { schema, value: { ...value, rope_type: kind } };
});

/** Keys of `config.json`: `rope_theta` and `rope_scaling`, or both inside `rope_parameters` (transformers 5). */
export const ropeKeys = {
  rope_theta: z.number().positive().optional(),
  rope_scaling: rope.nullish(),
  rope_parameters: rope.nullish(),
  // Interleaved pairs instead of halves: transformers' weights never have this layout.
  rope_interleaved: z.literal(false).optional(),
  partial_rotary_factor: z.literal(1).optional(),
};

/**
 * Base and scaling from the keys. If both layouts are present, `rope_scaling` wins, as in transformers.
 * @param maxPositions original context of a llama3 rope that does not specify it, as in transformers.
 */
export function readRope(
  keys: z.output<z.ZodObject<typeof ropeKeys>>,
  maxPositions: number,
): Pick<DecoderConfig, "ropeTheta" | "ropeScaling"> {
  const given = keys.rope_scaling ?? keys.rope_parameters ?? { rope_type: "default" };
  const ropeTheta = given.rope_theta ?? keys.rope_theta ?? 10_000;
  if (given.rope_type === "default") return { ropeTheta, ropeScaling: null };
  if (given.rope_type === "linear")
    return { ropeTheta, ropeScaling: { type: "linear", factor: given.factor } };
  const ropeScaling: RopeScaling = {
    type: "llama3",
    factor: given.factor,
    lowFrequencyFactor: given.low_freq_factor,
    highFrequencyFactor: given.high_freq_factor,
    originalPositions: given.original_max_position_embeddings ?? maxPositions,
  };
  return { ropeTheta, ropeScaling };
}

/** Writes the older layout, which every version of transformers, vLLM and llama.cpp reads. */
export function writeRope({ ropeTheta, ropeScaling }: DecoderConfig): Record<string, unknown> {
  return { rope_theta: ropeTheta, rope_scaling: ropeScaling && scalingKeys(ropeScaling) };
}

function scalingKeys(scaling: RopeScaling): Record<string, unknown> {
  if (scaling.type === "linear") return { rope_type: "linear", factor: scaling.factor };
  return {
    rope_type: "llama3",
    factor: scaling.factor,
    low_freq_factor: scaling.lowFrequencyFactor,
    high_freq_factor: scaling.highFrequencyFactor,
    original_max_position_embeddings: scaling.originalPositions,
  };
}

/**
 * Rotation per position of each pair in a head, in radians: θ^(−2i/d), i from 0 to d/2 − 1, scaled.
 *
 * Source: Su et al., arXiv 2104.09864, section 3.4.2; "linear": Chen et al., arXiv 2306.15595; "llama3": Llama 3.1 as
 * in transformers (modeling_rope_utils.py). Different here: float64 throughout, float32 there.
 *
 * @example headDim 4, ropeTheta 100 // 1, 0.1
 */
export function ropeFrequencies({ headDim, ropeTheta, ropeScaling }: DecoderConfig): number[] {
  const half = headDim / 2;
  const plain = Array.from({ length: half }, (_, i) => ropeTheta ** (-i / half));
  return ropeScaling === null ? plain : plain.map((each) => scaled(each, ropeScaling));
}

function scaled(frequency: number, scaling: RopeScaling): number {
  const slow = frequency / scaling.factor;
  if (scaling.type === "linear") return slow;
  // Number of waves in the original context.
  const waves = (scaling.originalPositions * frequency) / (2 * Math.PI);
  const { lowFrequencyFactor: low, highFrequencyFactor: high } = scaling;
  const kept = Math.min(1, Math.max(0, (waves - low) / (high - low)));
  return (1 - kept) * slow + kept * frequency;
}

/** Position · frequency, [positions, d/2]. */
export function rotaryAngles(config: DecoderConfig, positions: number): number[] {
  const frequencies = ropeFrequencies(config);
  return Array.from({ length: positions }, (_, p) => frequencies.map((each) => p * each)).flat();
}

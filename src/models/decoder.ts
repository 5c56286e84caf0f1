import { checkpoint } from "../autodiff/checkpoint.ts";
import {
  frozenLinear,
  frozenRows,
  isStoredHalf,
  storageOf,
  type HalfType,
} from "../autodiff/frozen.ts";
import { scalarLike, sizeOf, type Graph, type Value } from "../autodiff/graph.ts";
import { linear as linearOf, swiglu } from "../autodiff/ops/composites.ts";
import { add, and, castTo, greater, lessOrEqual, where } from "../autodiff/ops/elementwise.ts";
import { gather, runtimeZero } from "../autodiff/ops/indexing.ts";
import { gemm } from "../autodiff/ops/linear.ts";
import { rmsNorm, rotaryEmbedding } from "../autodiff/ops/nn.ts";
import { concat, reshape, split } from "../autodiff/ops/shape.ts";
import { windowOf, type DecoderConfig } from "./config.ts";
import {
  EMBEDDING,
  FINAL_NORM,
  HEAD,
  layerNames,
  parameterSpecs,
  VALUE_HEAD,
} from "./parameters.ts";
import { loraSpecs, withAdapter, type LoraConfig } from "./lora/lora.ts";
import { rotaryAngles } from "./rope.ts";
import { attendRows, createBlocks, queryBlocks } from "./row-attention.ts";

/** Parameters of a decoder as values of one graph, by Hugging Face name. */
export type ParameterValues = ReadonlyMap<string, Value>;

/** Suffix of a matrix's transposed copy (see `linear`). */
export const TRANSPOSED = ".transposed";

/** Layout of a model's parameters. */
export interface Layout {
  /** Whether matrices have transposed copies; only for float32. */
  transposed: boolean;
  /** Storage dtype of frozen matrices, which have no copy; null: float32, as always for vectors. */
  frozen: HalfType | null;
}

/** Everything in float32, with transposed copies. */
const plainLayout: Layout = { transposed: true, frozen: null };

/**
 * Declares every parameter as an input of the graph: matrices according to the layout, the matrices of adapters
 * without transposed copies.
 */
export function declareParameters(
  graph: Graph,
  config: DecoderConfig,
  lora: LoraConfig | null = null,
  { transposed, frozen }: Layout = plainLayout,
): ParameterValues {
  const values = new Map<string, Value>();
  for (const { name, shape } of parameterSpecs(config)) {
    const isMatrix = shape.length === 2;
    const held = isMatrix && frozen !== null ? storageOf(frozen) : "float32";
    values.set(name, graph.input(name, held, shape));
    if (transposed && frozen === null && isMatrix)
      values.set(name + TRANSPOSED, graph.input(name + TRANSPOSED, "float32", shape.toReversed()));
  }
  for (const { name, shape } of lora === null ? [] : loraSpecs(config, lora))
    values.set(name, graph.input(name, "float32", shape));
  return values;
}

/**
 * What is computed again in the backward pass instead of being kept from the forward pass (see `checkpoint`). `true`: each layer, of which
 * only its input is kept. `selective`: what is large and cheap, which are the scores of attention with their softmax and the gated
 * activations; of the products, only queries by keys is computed twice (Korthikanti et al., arXiv 2205.05198, section 5, where dropout
 * takes the place of the gate).
 */
export type Recompute = boolean | "selective";

/** Options of a decoder over whole rows. */
export interface RowsOptions {
  /** Adapters, declared with the parameters; null: none. */
  lora?: LoraConfig | null;
  recompute?: Recompute;
  /** Shape of a prefix that all rows have in common, and of the rows after it. */
  shared?: { prefix: number; batch: number; length: number } | null;
}

/**
 * The decoder over whole rows, causal, right-padded: position t sees positions up to t, so padding after a row's end
 * never affects a real token and needs no mask.
 *
 * @param ids int32 [B, T]; with `shared`, [P + B·T]: a prefix of every row, which is computed once, and the rows after it.
 * @returns the normalised hidden state of every position [B·T, D] or [P + B·T, D].
 */
export function decoderRows(
  config: DecoderConfig,
  parameters: ParameterValues,
  ids: Value,
  { lora = null, recompute = false, shared = null }: RowsOptions = {},
): Value {
  const parts = rowParts(config, ids, shared);
  const rows: Rows = { config, parameters, lora, parts, selective: recompute === "selective" };
  let x = embedded(parameters.get(EMBEDDING)!, reshape(ids, [sizeOf(ids.shape)])); // [B·T, D]
  for (let layer = 0; layer < config.layers; layer++) {
    const build = (input: Value): Value => decoderLayer(rows, layer, input);
    x = recompute === true ? checkpoint(build, x) : build(x);
  }
  return rmsNorm(x, parameters.get(FINAL_NORM)!, config.normEpsilon);
}

interface RowPart {
  batch: number;
  length: number;
  /** Position of their first token. */
  start: number;
  blocks: ReturnType<typeof queryBlocks>;
  rotary: ReturnType<typeof rotaryTables>;
}

/** The rows, or a shared prefix and the rows after it. Masks are created before the first layer, which may be recomputed. */
function rowParts(config: DecoderConfig, ids: Value, shared: RowsOptions["shared"]): RowPart[] {
  const [batch, length] = ids.shape as readonly [number, number];
  const shapes = shared
    ? [
        { batch: 1, length: shared.prefix, start: 0 },
        { batch: shared.batch, length: shared.length, start: shared.prefix },
      ]
    : [{ batch, length, start: 0 }];
  return shapes.map((shape) => {
    const positions = shape.start + shape.length;
    const blocks = queryBlocks(causalMasks(ids, positions), shape.length, shape.start);
    createBlocks(config, blocks);
    return { ...shape, blocks, rotary: rotaryTables(ids.graph, config, positions) };
  });
}

/** Shared by all layers of one graph. */
interface Rows {
  config: DecoderConfig;
  parameters: ParameterValues;
  lora: LoraConfig | null;
  parts: readonly RowPart[];
  selective: boolean;
}

/** One layer over all rows: [B·T, D] → [B·T, D]. */
function decoderLayer(rows: Rows, layer: number, x: Value): Value {
  const { config, parameters, lora, parts, selective } = rows;
  const names = layerNames(layer);
  const at = (name: string): Value => parameters.get(name)!;
  const normal = rmsNorm(x, at(names.inputNorm), config.normEpsilon);
  const heads = attend({
    q: rotate(project(normal, names.q, names.qBias), names.qNorm, config.heads),
    k: rotate(project(normal, names.k, names.kBias), names.kNorm, config.kvHeads),
    v: apart(project(normal, names.v, names.vBias)),
  });
  const mixed = add([x, project(heads, names.o)]);
  const second = rmsNorm(mixed, at(names.postNorm), config.normEpsilon);
  const up = project(second, names.up);
  // Its product is a part of what is computed again, because adapters read the gated activations; nothing reads the second result.
  const down = (gate: Value): Value => project(swiglu(gate, up), names.down);
  const gate = project(second, names.gate);
  return add([mixed, selective ? checkpoint(down, gate) : down(gate)]);

  function project(from: Value, weight: string, bias?: string): Value {
    const product = linear(parameters, from, weight, bias);
    return withAdapter(lora, weight, { x: from, product, at });
  }

  function apart(from: Value): readonly Value[] {
    const lengths = parts.map(({ batch, length }) => batch * length);
    return parts.length === 1 ? [from] : split(from, 0, lengths);
  }

  function rotate(from: Value, norm: string, heads: number): Value[] {
    const normal = config.qkNorm ? normHeads(config, from, at(norm)) : from;
    return apart(normal).map((own, i) => {
      const { batch, length, start, rotary } = parts[i]!;
      const wide = reshape(own, [batch, length, from.shape[1]!]);
      const first = x.graph.constant("int64", [1], [start]);
      return rotaryEmbedding([wide, first, rotary.cos, rotary.sin], { num_heads: heads });
    });
  }

  function attend({ q, k, v }: Record<"q" | "k" | "v", readonly Value[]>): Value {
    const results = parts.map((part, i) => {
      const { start } = part;
      const past = start > 0 ? { past: { k: k[0]!, v: v[0]! } } : {};
      const blocks = part.blocks(windowOf(config, layer));
      const build = (own: Value): Value =>
        attendRows(config, part, blocks, { q: own, k: k[i]!, v: v[i]!, ...past });
      return selective ? checkpoint(build, q[i]!) : build(q[i]!);
    });
    return results.length === 1 ? results[0]! : concat(results, { axis: 0 });
  }
}

/** Normalises each head of rows [N, heads · d], with one scale [d] for all heads. */
export function normHeads(config: DecoderConfig, rows: Value, scale: Value): Value {
  const { headDim, normEpsilon } = config;
  const apart = reshape(rows, [sizeOf(rows.shape) / headDim, headDim]);
  return reshape(rmsNorm(apart, scale, normEpsilon), rows.shape);
}

/** Scores over the vocabulary [N, V] of hidden states [N, D]. */
export function vocabularyScores(parameters: ParameterValues, hidden: Value): Value {
  return linear(parameters, hidden, parameters.has(HEAD) ? HEAD : EMBEDDING);
}

/** The critic's values [N, 1] of hidden states [N, D]. */
export function positionValues(parameters: ParameterValues, hidden: Value): Value {
  return linear(parameters, hidden, VALUE_HEAD);
}

/** Rows of the embedding, float32: [V, D] and [N] give [N, D]. */
export function embedded(table: Value, ids: Value): Value {
  return isStoredHalf(table) ? frozenRows(table, ids) : gather([table, ids]);
}

/** The output matrix [V, D] if it is stored in 16 bits, else null. */
export function frozenHead(parameters: ParameterValues): Value | null {
  const head = parameters.get(HEAD) ?? parameters.get(EMBEDDING)!;
  return isStoredHalf(head) ? head : null;
}

/** V */
export function vocabularySize(parameters: ParameterValues): number {
  return parameters.get(EMBEDDING)!.shape[0]!;
}

/** x · Wᵀ (+ b), with weight and bias by name. */
function linear(parameters: ParameterValues, x: Value, weight: string, bias = ""): Value {
  const transposed = parameters.get(weight + TRANSPOSED);
  const stored = parameters.get(weight)!;
  const product = isStoredHalf(stored)
    ? frozenLinear(x, stored)
    : transposed === undefined
      ? gemm([x, stored], { transB: 1 })
      : linearOf(x, stored, transposed);
  const added = parameters.get(bias);
  return added === undefined ? product : add([product, added]);
}

/** Added to the score of an invisible position: its weight becomes exactly 0. */
export const MASKED = -1e9;

/**
 * Causal masks [T, T]: 0 for visible positions, MASKED for others, computed from two position vectors inside the graph. One mask per
 * window size, created on first use.
 *
 * @param input any int32 value of the run. The positions depend on it, because the runtime would otherwise fold the masks
 *   when it compiles and store T² numbers with every graph.
 * @param window of the returned function: number of tokens that a token sees, including itself.
 */
export function causalMasks(input: Value, length: number): (window: number) => Value {
  const { graph } = input;
  const positions = Array.from({ length }, (_, t) => t);
  const made = new Map<number, Value>();
  // Positions are exact as floats, and GPUs slice integers on the CPU.
  const zero = runtimeZero(castTo(input, "float32"));
  const column = (numbers: readonly number[]): Value =>
    add([graph.constant("float32", [length, 1], numbers), zero]);
  return (window) => {
    const seen = Math.min(window, length);
    let mask = made.get(seen);
    if (mask === undefined) {
      const keys = graph.constant("float32", [1, length], positions);
      const past = lessOrEqual([keys, column(positions)]);
      const near = (): Value => greater([keys, column(positions.map((t) => t - seen))]);
      const visible = seen < length ? and([past, near()]) : past;
      const masked = graph.constant("float32", [], [MASKED]);
      mask = where([visible, scalarLike(masked, 0), masked]);
      made.set(seen, mask);
    }
    return mask;
  };
}

/** cos and sin of position · frequency: [P, d/2] each. */
export function rotaryTables(
  graph: Graph,
  config: DecoderConfig,
  positions: number,
): { cos: Value; sin: Value } {
  const angles = rotaryAngles(config, positions);
  const shape = [positions, config.headDim / 2];
  return {
    cos: graph.constant("float32", shape, angles.map(Math.cos)),
    sin: graph.constant("float32", shape, angles.map(Math.sin)),
  };
}

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
import { add, and, castTo, greater, lessOrEqual, sub, where } from "../autodiff/ops/elementwise.ts";
import { gather, runtimeZero } from "../autodiff/ops/indexing.ts";
import { gemm } from "../autodiff/ops/linear.ts";
import { rmsNorm, rotaryEmbedding } from "../autodiff/ops/nn.ts";
import { reshape } from "../autodiff/ops/shape.ts";
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
import {
  attendRows,
  blockPlan,
  createBlocks,
  queryBlocks,
  type BlockPlan,
} from "./row-attention.ts";

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
  /** The rows as a tree; null: `ids` are whole rows. */
  tree?: TokenTree | null;
}

/**
 * Rows that begin alike, as a tree: N tokens, of which each stands for itself in every row that has it, with the same tokens before it. All but
 * attention is computed once for each of them; attention puts the B rows of up to T tokens together.
 */
export interface TokenTree {
  batch: number;
  /** T */
  length: number;
  /** int32 [N]: place of each token in its rows. */
  positions: Value;
  /** int32 [B·T]: the token at each place of each row; behind a row's end any. */
  paths: Value;
  /** int32 [N]: where `paths` has each token, once. */
  places: Value;
  /** float32 [T]: 0, 1, 2, … */
  steps: Value;
  /** cos and sin of position · frequency: [T, d/2] each. */
  rotary: { cos: Value; sin: Value };
  /** How its attention is divided. */
  plan: BlockPlan;
}

/**
 * The decoder over whole rows, causal, right-padded: position t sees positions up to t, so padding after a row's end
 * never affects a real token and needs no mask.
 *
 * @param ids int32 [B, T]; of a tree [N].
 * @returns the normalised hidden state of every position [B·T, D], or of every token of a tree [N, D].
 */
export function decoderRows(
  config: DecoderConfig,
  parameters: ParameterValues,
  ids: Value,
  { lora = null, recompute = false, tree = null }: RowsOptions = {},
): Value {
  const place = tree === null ? wholeRows(config, ids) : rowsOfTree(ids, tree);
  // Before the first layer, which may be recomputed.
  const blocks = queryBlocks(causalMasks(place.steps), place.length, place.plan);
  createBlocks(config, blocks);
  const selective = recompute === "selective";
  const rows: Rows = { config, parameters, lora, place, blocks, selective };
  let x = embedded(parameters.get(EMBEDDING)!, reshape(ids, [sizeOf(ids.shape)]));
  for (let layer = 0; layer < config.layers; layer++) {
    const build = (input: Value): Value => decoderLayer(rows, layer, input);
    x = recompute === true ? checkpoint(build, x) : build(x);
  }
  return rmsNorm(x, parameters.get(FINAL_NORM)!, config.normEpsilon);
}

/** Where tokens stand in their rows. */
interface Placing extends Pick<TokenTree, "batch" | "length" | "steps" | "plan"> {
  /** cos and sin of each place along the second of `axes`. */
  rotary: TokenTree["rotary"];
  /** The axes before a token's numbers, as the rotation wants them. */
  axes: readonly [rows: number, places: number];
  /** Tokens [N, …] as rows [B·T, …]. */
  apart: (x: Value) => Value;
  /** Rows [B·T, …] as tokens [N, …]. */
  together: (x: Value) => Value;
}

function wholeRows(config: DecoderConfig, ids: Value): Placing {
  const [batch, length] = ids.shape as readonly [number, number];
  return {
    batch,
    length,
    steps: stepsOf(ids, length),
    plan: blockPlan(config, length),
    rotary: rotaryTables(ids.graph, config, length),
    axes: [batch, length],
    apart: (x) => x,
    together: (x) => x,
  };
}

function rowsOfTree(ids: Value, tree: TokenTree): Placing {
  const { batch, length, steps, plan, positions, rotary } = tree;
  return {
    batch,
    length,
    steps,
    plan,
    // The kernel's tables must be as long as what it rotates: one row for each token.
    rotary: { cos: gather([rotary.cos, positions]), sin: gather([rotary.sin, positions]) },
    axes: [1, ids.shape[0]!],
    apart: (x) => gather([x, tree.paths]),
    together: (x) => gather([x, tree.places]),
  };
}

/** Shared by all layers of one graph. */
interface Rows {
  config: DecoderConfig;
  parameters: ParameterValues;
  lora: LoraConfig | null;
  place: Placing;
  blocks: ReturnType<typeof queryBlocks>;
  selective: boolean;
}

/** One layer over all rows: [N, D] → [N, D]. */
function decoderLayer(rows: Rows, layer: number, x: Value): Value {
  const { config, parameters, lora, place, selective } = rows;
  const names = layerNames(layer);
  const at = (name: string): Value => parameters.get(name)!;
  const normal = rmsNorm(x, at(names.inputNorm), config.normEpsilon);
  const blocks = rows.blocks(windowOf(config, layer));
  const k = place.apart(rotate(project(normal, names.k, names.kBias), names.kNorm, config.kvHeads));
  const v = place.apart(project(normal, names.v, names.vBias));
  const attend = (own: Value): Value => {
    const heads = attendRows(config, place, blocks, { q: place.apart(own), k, v });
    return place.together(heads);
  };
  const q = rotate(project(normal, names.q, names.qBias), names.qNorm, config.heads);
  const heads = selective ? checkpoint(attend, q) : attend(q);
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

  function rotate(from: Value, norm: string, heads: number): Value {
    const normal = config.qkNorm ? normHeads(config, from, at(norm)) : from;
    const { cos, sin } = place.rotary;
    const wide = reshape(normal, [...place.axes, normal.shape[1]!]);
    const first = x.graph.constant("int64", [1], [0]);
    return reshape(rotaryEmbedding([wide, first, cos, sin], { num_heads: heads }), normal.shape);
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
 * Causal masks [T, T]: 0 for visible positions, MASKED for others. One mask per window size, created on first use.
 *
 * @param steps float32 [T]: 0, 1, 2, …
 * @param window of the returned function: number of tokens that a token sees, including itself.
 */
export function causalMasks(steps: Value): (window: number) => Value {
  const [length = 0] = steps.shape;
  const made = new Map<number, Value>();
  return (window) => {
    const seen = Math.min(window, length);
    let mask = made.get(seen);
    if (mask === undefined) {
      const column = reshape(steps, [length, 1]);
      const keys = reshape(steps, [1, length]);
      const past = lessOrEqual([keys, column]);
      const near = (): Value => greater([keys, sub([column, scalarLike(column, seen)])]);
      const visible = seen < length ? and([past, near()]) : past;
      const masked = scalarLike(steps, MASKED);
      mask = where([visible, scalarLike(masked, 0), masked]);
      made.set(seen, mask);
    }
    return mask;
  };
}

/**
 * float32 [length]: 0, 1, 2, … in every run.
 * @param input any int32 value of the run, on which they depend: the runtime would otherwise fold what is computed from them when it
 *   compiles, and store T² numbers with every graph.
 */
export function stepsOf(input: Value, length: number): Value {
  const steps = Array.from({ length }, (_, t) => t);
  // As floats, which are exact: GPUs slice integers on the CPU.
  const zero = runtimeZero(castTo(input, "float32"));
  return add([input.graph.constant("float32", [length], steps), zero]);
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

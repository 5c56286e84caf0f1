import type { ModelLibrary } from "./model-files.ts";

interface TokenRow {
  ids: number[];
  /** 1 for tokens of the second text. */
  types: number[];
}

/** The library's tokenizer, as far as it is used here. */
export type TokenizeFunction = (
  text: string,
  options: { text_pair?: string; add_special_tokens: boolean },
) => TokenRow;

/** @param tokenizer of the library. */
export function tokenizeWith(
  tokenizer: Awaited<ReturnType<ModelLibrary["AutoTokenizer"]["from_pretrained"]>>,
): TokenizeFunction {
  return (text, options) => {
    const { input_ids: ids, token_type_ids: types } = tokenizer(text, {
      ...options,
      padding: false,
      truncation: false,
      return_tensor: false,
      return_token_type_ids: true,
    }) as unknown as { input_ids: number[]; token_type_ids?: number[] };
    return { ids, types: types ?? ids.map(() => 0) };
  };
}

/** Any id where the tokenizer has none: attention never sees it. */
export function padIdOf(tokenizer: { pad_token_id?: number }): number {
  return tokenizer.pad_token_id ?? 0;
}

/**
 * Token ids of one text, or of a pair, of at most `maxTokens` in all. Too long texts lose tokens at their ends, the
 * longer of two first; special tokens stay. (The library itself cuts the row, and with it the closing special token.)
 */
export function tokenRow(
  tokenize: TokenizeFunction,
  texts: readonly [string] | readonly [string, string],
  maxTokens: number,
): TokenRow {
  const [first, second] = texts;
  const pair = second === undefined ? {} : { text_pair: second };
  const whole = tokenize(first, { ...pair, add_special_tokens: true });
  if (whole.ids.length <= maxTokens) return whole;
  const bodies = texts.map((text) => tokenize(text, { add_special_tokens: false }).ids);
  const places = placesOf(bodies, whole.ids);
  const specials = whole.ids.length - bodies.reduce((sum, body) => sum + body.length, 0);
  const lengths = shortened(
    bodies.map((body) => body.length),
    Math.max(0, maxTokens - specials),
  );
  const kept = (_: number, at: number): boolean =>
    places.every((place, i) => at < place + lengths[i]! || at >= place + bodies[i]!.length);
  return { ids: whole.ids.filter(kept), types: whole.types.filter(kept) };
}

/** Where each text's own tokens begin in the row. */
function placesOf(bodies: readonly number[][], row: readonly number[]): number[] {
  let from = 0;
  return bodies.map((body) => {
    const last = row.length - body.length;
    let at = from;
    while (at < last && !body.every((id, i) => row[at + i] === id)) at++;
    from = at + body.length;
    return at;
  });
}

/** Takes from the longest, one token at a time, until the sum is `total`. */
function shortened(lengths: number[], total: number): number[] {
  const kept = [...lengths];
  let sum = kept.reduce((a, b) => a + b, 0);
  for (; sum > total; sum--) kept[kept.lastIndexOf(Math.max(...kept))]! -= 1;
  return kept;
}

type RowBatch = number[];

/**
 * Batches of rows sorted by length, so that little is padded.
 * @param batchTokens rows times the longest row of a batch; a longer single row is a batch of its own.
 */
export function lengthBatches(lengths: readonly number[], batchTokens: number): RowBatch[] {
  const order = lengths.map((_, i) => i).sort((a, b) => lengths[b]! - lengths[a]! || a - b);
  const batches: RowBatch[] = [];
  for (const i of order) {
    const batch = batches.at(-1);
    const longest = batch?.[0] === undefined ? 0 : lengths[batch[0]]!;
    if (batch !== undefined && (batch.length + 1) * longest <= batchTokens) batch.push(i);
    else batches.push([i]);
  }
  return batches;
}

/** Rows as the tensors that a model takes, padded at the end: [B, T]. */
export function modelInputs(
  { Tensor }: Pick<ModelLibrary, "Tensor">,
  rows: readonly TokenRow[],
  padId: number,
): { input_ids: unknown; attention_mask: unknown; token_type_ids: unknown } {
  const width = Math.max(...rows.map(({ ids }) => ids.length));
  const tensor = (valueOf: (row: TokenRow, at: number) => number): unknown => {
    const data = rows.flatMap((row) =>
      Array.from({ length: width }, (_, at) => BigInt(valueOf(row, at))),
    );
    return new Tensor("int64", BigInt64Array.from(data), [rows.length, width]);
  };
  return {
    input_ids: tensor(({ ids }, at) => ids[at] ?? padId),
    attention_mask: tensor(({ ids }, at) => (at < ids.length ? 1 : 0)),
    token_type_ids: tensor(({ types }, at) => types[at] ?? 0),
  };
}

/** How token vectors become one: their mean, the first one's, or the last one's. */
export const POOLINGS = ["mean", "cls", "last"] as const;
export type Pooling = (typeof POOLINGS)[number];

/** Token vectors of a batch. */
interface HiddenStates {
  /** [B, T, D] */
  data: Float32Array;
  width: number;
  dimensions: number;
  /** Tokens of each row; what follows is padding. */
  lengths: readonly number[];
}

/** @returns [B, D]; sums in float64. */
export function pool(
  { data, width, dimensions, lengths }: HiddenStates,
  pooling: Pooling,
): Float32Array {
  const vectors = new Float32Array(lengths.length * dimensions);
  const sums = new Float64Array(dimensions);
  lengths.forEach((length, row) => {
    const from = pooling === "last" ? length - 1 : 0;
    const to = pooling === "cls" ? 1 : length;
    sums.fill(0);
    for (let token = from; token < to; token++) {
      const at = (row * width + token) * dimensions;
      for (let d = 0; d < dimensions; d++) sums[d]! += data[at + d]!;
    }
    for (let d = 0; d < dimensions; d++) vectors[row * dimensions + d] = sums[d]! / (to - from);
  });
  return vectors;
}

/** Scales each vector to length 1, in place; one of zeros stays. */
export function normalizeVectors(vectors: Float32Array, dimensions: number): void {
  for (let at = 0; at < vectors.length; at += dimensions) {
    let squares = 0;
    for (let d = 0; d < dimensions; d++) squares += vectors[at + d]! ** 2;
    const length = Math.sqrt(squares);
    if (length === 0) continue;
    for (let d = 0; d < dimensions; d++) vectors[at + d]! /= length;
  }
}

import type { Random } from "../../base/random.ts";
import type { SampleRequest } from "../engine.ts";

/** The options of a request that shape the distribution. */
export type PickOptions = Pick<
  SampleRequest,
  "temperature" | "topP" | "topK" | "minP" | "logitBias"
>;

/** Whether the temperature alone shapes the distribution, so that a graph can draw. */
export function isPlainPick(options: PickOptions): boolean {
  return keepsAll(options) && options.logitBias === undefined;
}

function keepsAll({ topK, topP, minP = 0 }: PickOptions): boolean {
  return topK === 0 && topP === 1 && minP === 0;
}

/** Draws a token from the row of `size` V at `offset`. @returns the id, and its log-probability before bias, top-k, top-p and min-p. */
export function pickToken(
  probabilities: Float32Array,
  offset: number,
  size: number,
  options: PickOptions,
  stream: Random,
): { id: number; logprob: number } {
  const row = probabilities.subarray(offset, offset + size);
  const { logitBias, temperature } = options;
  const biased = logitBias === undefined ? row : applyBias(row, logitBias, temperature);
  if (temperature === 0) {
    let best = 0;
    for (let id = 1; id < size; id++) if (biased[id]! > biased[best]!) best = id;
    return { id: best, logprob: logOf(row[best]!) };
  }
  // The actual sum, because float32 rounding makes it differ slightly from 1.
  const total = sumOf(row);
  const among = keepsAll(options) ? null : likeliest(biased, options);
  const mass = among?.reduce((sum, each) => sum + biased[each]!, 0) ?? (biased === row ? total : sumOf(biased)); // prettier-ignore
  const id = drawn(biased, among, stream.next() * mass);
  return { id, logprob: logOf(row[id]! / total) };
}

/**
 * The ids that top-k, top-p and min-p leave, most likely first: in this order, each over what those before it left, renormalised.
 * Source: `TopKLogitsWarper`, `TopPLogitsWarper` and `MinPLogitsWarper` of transformers, in the order of its `generate`.
 */
function likeliest(row: Float32Array, { topK, topP, minP = 0 }: PickOptions): number[] {
  const order = Array.from(row.keys()).sort((a, b) => row[b]! - row[a]! || a - b);
  const least = topK > 0 ? row[order[Math.min(topK, order.length) - 1]!]! : 0;
  const firstOut = order.findIndex((id) => row[id]! < least);
  const top = firstOut < 0 ? order : order.slice(0, firstOut);
  const mass = topP < 1 ? topP * top.reduce((sum, id) => sum + row[id]!, 0) : Infinity;
  const kept: number[] = [];
  let held = 0;
  for (const id of top) {
    if (held >= mass) break;
    kept.push(id);
    held += row[id]!;
  }
  const floor = minP * row[kept[0]!]!;
  return kept.filter((id) => row[id]! >= floor);
}

/** The id in whose share of the mass a number falls, of `among`; null: of all, by a loop of its own, which takes half of the time. */
function drawn(row: Float32Array, among: readonly number[] | null, number: number): number {
  let left = number;
  let last = among?.[0] ?? 0;
  if (among !== null) {
    for (const id of among) {
      if (row[id] === 0) continue;
      last = id;
      left -= row[id]!;
      if (left < 0) break;
    }
    return last;
  }
  for (let id = 0; id < row.length; id++) {
    const share = row[id]!;
    if (share === 0) continue;
    last = id;
    left -= share;
    if (left < 0) break;
  }
  return last;
}

/** An indexed loop: iterating over a typed array takes four times as long. */
function sumOf(row: Float32Array): number {
  let total = 0;
  for (let id = 0; id < row.length; id++) total += row[id]!;
  return total;
}

/** Smallest positive float32, used for a probability of 0, so that a bias still distinguishes forbidden from unlikely. */
const TINIEST = 2 ** -149;

function logOf(probability: number): number {
  return Math.log(Math.max(probability, TINIEST));
}

/** p · e^(bias/T), normalised, in logarithms: a bias of 1000 is a common way to force a token. The bias comes before the temperature. */
function applyBias(
  row: Float32Array,
  bias: Readonly<Record<number, number>>,
  temperature: number,
): Float32Array {
  const logs = Float64Array.from(row, logOf);
  const divisor = temperature === 0 ? 1 : temperature;
  for (const [id, value] of Object.entries(bias)) logs[Number(id)]! += value / divisor;
  let largest = -Infinity;
  for (const each of logs) largest = Math.max(largest, each);
  return Float32Array.from(logs, (each) => Math.exp(each - largest));
}

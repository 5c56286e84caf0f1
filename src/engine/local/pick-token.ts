import type { Random } from "../../base/random.ts";
import type { SampleRequest } from "../engine.ts";

/** The options of a request that shape the distribution. */
export type PickOptions = Pick<SampleRequest, "temperature" | "topP" | "topK" | "logitBias">;

/**
 * Draws a token from probabilities at the request's temperature.
 *
 * @param probabilities an array that contains the row.
 * @param offset start of the row.
 * @param size V.
 * @returns the id and its log-probability under the distribution after bias, top-k and top-p (before them for greedy).
 */
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
  if (options.temperature === 0) {
    let best = 0;
    for (let id = 1; id < size; id++) if (biased[id]! > biased[best]!) best = id;
    return { id: best, logprob: Math.log(biased[best]!) };
  }
  if (options.topK > 0 || options.topP < 1) return pickAmongLikeliest(biased, options, stream);
  // The actual sum, because float32 rounding makes it differ slightly from 1.
  let total = 0;
  for (let id = 0; id < size; id++) total += biased[id]!;
  let left = stream.next() * total;
  let last = 0;
  for (let id = 0; id < size; id++) {
    const p = biased[id]!;
    if (p === 0) continue;
    last = id;
    left -= p;
    if (left < 0) break;
  }
  return { id: last, logprob: Math.log(biased[last]! / total) };
}

function pickAmongLikeliest(
  row: Float32Array,
  { topK, topP }: PickOptions,
  stream: Random,
): { id: number; logprob: number } {
  const order = Array.from(row.keys()).sort((a, b) => row[b]! - row[a]! || a - b);
  const limit = topK > 0 ? Math.min(topK, order.length) : order.length;
  let kept = 0;
  let mass = 0;
  while (kept < limit && (kept === 0 || mass < topP)) {
    mass += row[order[kept]!]!;
    kept += 1;
  }
  let left = stream.next() * mass;
  let chosen = order[0]!;
  for (const id of order.slice(0, kept)) {
    chosen = id;
    left -= row[id]!;
    if (left < 0) break;
  }
  return { id: chosen, logprob: Math.log(row[chosen]! / mass) };
}

/** Smallest positive float32, used for a probability of 0, so that a bias still distinguishes forbidden from unlikely. */
const TINIEST = 2 ** -149;

/**
 * p · e^(bias/T), normalised: the bias is added to the scores before the temperature divides them. Computed with
 * logarithms, because a bias of 1000 is a common way to force a token.
 */
function applyBias(
  row: Float32Array,
  bias: Readonly<Record<number, number>>,
  temperature: number,
): Float32Array {
  const logs = Float64Array.from(row, (p) => Math.log(Math.max(p, TINIEST)));
  const divisor = temperature === 0 ? 1 : temperature;
  for (const [id, value] of Object.entries(bias)) logs[Number(id)]! += value / divisor;
  let largest = -Infinity;
  for (const each of logs) largest = Math.max(largest, each);
  const out = Float32Array.from(logs, (each) => Math.exp(each - largest));
  let total = 0;
  for (const p of out) total += p;
  for (let id = 0; id < out.length; id++) out[id]! /= total;
  return out;
}

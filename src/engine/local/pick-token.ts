import type { Random } from "../../base/random.ts";
import type { SampleRequest } from "../engine.ts";

/** The parts of a request that shape the distribution. */
export type PickOptions = Pick<SampleRequest, "temperature" | "topP" | "topK" | "logitBias">;

/**
 * Draws a token from probabilities that the temperature has shaped already.
 *
 * @param probabilities of the whole vocabulary, within a larger array.
 * @param offset where this row starts.
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
  const biased = options.logitBias === undefined ? row : applyBias(row, options.logitBias);
  if (options.temperature === 0) {
    let best = 0;
    for (let id = 1; id < size; id++) if (biased[id]! > biased[best]!) best = id;
    return { id: best, logprob: Math.log(biased[best]!) };
  }
  if (options.topK > 0 || options.topP < 1) return pickAmongLikeliest(biased, options, stream);
  // The sum is taken as it is: float32 rounding leaves it a little off 1.
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

/** p · e^bias, made a distribution again. */
function applyBias(row: Float32Array, bias: Readonly<Record<number, number>>): Float32Array {
  const out = row.slice();
  for (const [id, value] of Object.entries(bias)) out[Number(id)]! *= Math.exp(value);
  let total = 0;
  for (const p of out) total += p;
  for (let id = 0; id < out.length; id++) out[id]! /= total;
  return out;
}
